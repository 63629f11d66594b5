//! Modules that are written: those of the regression suite, one for each op and shape, and drawn ones.

use std::path::Path;

use mind_driver::formats::{Format, LoadOptions};
use mind_driver::load::parse_and_verify;
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_ir::verify::{VerifyConfig, verify};
use mind_testgen::cases::{Case, all, systems};
use mind_testgen::{Config, module};

/// A module, and where it is from.
pub struct Source {
    pub group: &'static str,
    pub name: String,
    /// What shows the module when something is wrong with it.
    pub text: String,
    pub graph: Graph,
}

/// All modules, `drawn` of them drawn.
pub fn sources(drawn: u64) -> Vec<Source> {
    let session = Session::default();
    let mut sources = suite(&session);
    sources.extend(cases(&session));
    sources.extend((0..drawn).map(|seed| {
        let mut graph = module(seed, &Config::default());
        let found = verify(&mut graph, &VerifyConfig::default());
        assert!(!found.has_errors(), "module {seed} is not valid: {found:?}");
        let text = session.formats.print(Format::Core, &graph);
        Source {
            group: "drawn",
            name: format!("{seed:04}"),
            text: text.expect("Core text says everything"),
            graph,
        }
    }));
    sources
}

fn read(session: &Session, text: &str) -> Option<Graph> {
    let options = LoadOptions::default();
    let (format, graph) = parse_and_verify(&session.formats, text, 0, &options).ok()?;
    let is_mil = matches!(format.text(), Some(Format::Mil | Format::MilPrimer));
    (!is_mil).then_some(graph)
}

/// Every module of the regression suite that is of core.
fn suite(session: &Session) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = lit_tests::discovery::find(root).expect("the suite is there");
    let mut sources = Vec::new();
    for test in found.tests {
        let Ok(text) = std::fs::read_to_string(&test.path) else {
            continue;
        };
        for (at, part) in text.split("\n# -----").enumerate() {
            let part = match (at, part.split_once('\n')) {
                (1.., Some((_, rest))) => rest,
                _ => part,
            };
            let Some(graph) = read(session, part) else {
                continue;
            };
            let of_core = |op| {
                let dialect = graph.def(op).name.split('.').next();
                matches!(dialect, Some("core" | "builtin"))
            };
            if graph.walk().all(of_core) {
                sources.push(Source {
                    group: "suite",
                    name: format!("{}-{at}", test.name.replace(['/', '.'], "_")),
                    text: part.to_owned(),
                    graph,
                });
            }
        }
    }
    sources
}

/// The dtypes that the inputs of cases have.
const DTYPES: [&str; 6] = ["f32", "bf16", "i8", "u16", "i64", "bool"];

/// Every op and shape of the cases, in each dtype that it takes.
fn cases(session: &Session) -> Vec<Source> {
    let mut sources = Vec::new();
    for (at, case) in all().into_iter().chain(systems()).enumerate() {
        for dtype in DTYPES {
            let text = case_text(&case, dtype);
            sources.extend(read(session, &text).map(|graph| Source {
                group: "case",
                name: format!("{at:04}-{dtype}"),
                text,
                graph,
            }));
        }
    }
    sources
}

fn case_text(case: &Case, dtype: &str) -> String {
    let inputs = case.shapes.iter().enumerate().map(|(at, shape)| {
        let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let dims = dims.join(", ");
        format!("%{at} = Input {{name=x{at}}} : tensor<{dtype}[{dims}]>\n")
    });
    inputs.collect::<String>() + &case.end()
}
