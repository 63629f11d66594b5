//! Optimised modules compute the same as before: random modules through every pipeline.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::circular::{Acosh, Asinh, Atan2};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::convert::Bitcast;
use mind_core::ops::cumulative::Cumulative;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::fused::Fused;
use mind_core::ops::input::Input;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::sample::{GridSample, Resize};
use mind_core::ops::sort::{Sort, TopK};
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_driver::equivalence::same_graphs;
use mind_driver::formats::Format;
use mind_driver::session::{LEVELS, PASSES, Session};
use mind_ir::builder::Builder;
use mind_ir::listener::NoopListener;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{Graph, OpId, ValueId};
use mind_pass::{Manager, Pipeline, RewriteOptions, RunCache, Statistics, parse_pipeline};
use mind_reduce::reduction::reduce;
use mind_testgen::{Config, module};
use mind_text::Limits;

/// The number of random modules in each test; `MIND_MODULES` overrides it, and `MIND_SEED` sets the first seed.
const MODULES: u64 = 1500;

fn seeds() -> std::ops::Range<u64> {
    let asked = |name: &str, otherwise: u64| {
        let asked = std::env::var(name).ok();
        asked.map_or(otherwise, |number| {
            number
                .parse()
                .unwrap_or_else(|_| panic!("{name} is a number"))
        })
    };
    let first = asked("MIND_SEED", 0);
    first..first + asked("MIND_MODULES", MODULES)
}

fn draw(seed: u64) -> Graph {
    draw_from(seed, &Config::default())
}

fn draw_from(seed: u64, config: &Config) -> Graph {
    let mut g = module(seed, config);
    let found = verify(&mut g, &VerifyConfig::default());
    assert!(!found.has_errors(), "module {seed} is not valid: {found:?}");
    g
}

/// A pipeline with its session.
struct Optimiser<'s> {
    session: &'s Session,
    shared: RunCache,
    text: &'s str,
    pipeline: Pipeline,
}

impl<'s> Optimiser<'s> {
    fn new(session: &'s Session, text: &'s str) -> Optimiser<'s> {
        let pipeline = parse_pipeline(text, &PASSES).expect("a pipeline");
        let shared = RunCache::default();
        Optimiser {
            session,
            shared,
            text,
            pipeline,
        }
    }

    /// Returns the module after the passes, verified after each, and their statistics.
    fn run(&self, g: &Graph) -> Result<(Graph, Statistics), String> {
        let manager = Manager {
            registry: &self.session.registry,
            verify_each: true,
            verify: VerifyConfig::default(),
            rewriting: &RewriteOptions::default(),
            shared: &self.shared,
        };
        let (mut g, mut statistics) = (g.clone(), Statistics::default());
        let (pipeline, watch) = (&self.pipeline, &mut NoopListener);
        let run = || manager.run(pipeline, &mut g, &mut statistics, watch);
        let ran = catch_unwind(AssertUnwindSafe(run));
        let ran = ran.map_err(|_| "a pass panicked".to_owned())?;
        ran.map_err(|failure| format!("{failure:?}"))?;
        Ok((g, statistics))
    }

    fn keeps_the_bits(&self, g: &Graph) -> Result<(), String> {
        let (optimised, _) = self.run(g)?;
        same_graphs(g, &optimised)
    }

    /// Reports a module for which `check` fails, after reducing it.
    fn require(&self, seed: u64, g: &Graph, check: impl Fn(&Graph) -> Result<(), String>) {
        if check(g).is_ok() {
            return;
        }
        let small = reduce(g, &Default::default(), &mut |g| check(g).is_err()).graph;
        let text = print(self.session, &small);
        let why = check(&small).expect_err("a shrunk module still fails");
        panic!("seed {seed}, {}: {why}\n{text}", self.text);
    }
}

fn print(session: &Session, g: &Graph) -> String {
    let printed = session.formats.print(Format::Core, g);
    printed.expect("Core text says everything")
}

#[test]
fn every_level_keeps_the_bits() {
    let session = Session::default();
    let optimisers: Vec<Optimiser<'_>> = LEVELS
        .iter()
        .map(|level| Optimiser::new(&session, level.pipeline))
        .collect();
    for seed in seeds() {
        let g = draw(seed);
        for optimiser in &optimisers {
            optimiser.require(seed, &g, |g| optimiser.keeps_the_bits(g));
        }
    }
}

#[test]
fn every_pass_keeps_the_bits() {
    let session = Session::default();
    let passes = [
        "canonicalize",
        "simplify",
        "fold",
        "fuse",
        "cse",
        "fuse,fold,fuse",
    ];
    let optimisers = passes.map(|pass| Optimiser::new(&session, pass));
    for seed in seeds() {
        let g = draw(seed);
        for optimiser in &optimisers {
            optimiser.require(seed, &g, |g| optimiser.keeps_the_bits(g));
        }
    }
}

#[test]
fn folding_and_fusing_never_raise_the_cost() {
    let session = Session::default();
    for pass in ["fold", "fuse"] {
        let optimiser = Optimiser::new(&session, pass);
        let mut fell = 0;
        for seed in seeds() {
            let g = draw(seed);
            optimiser.require(seed, &g, |g| {
                let (_, statistics) = optimiser.run(g)?;
                let (before, after) = costs(&statistics);
                (after <= before)
                    .then_some(())
                    .ok_or(format!("cost {before} became {after}"))
            });
            let (_, statistics) = optimiser.run(&g).expect("checked above");
            let (before, after) = costs(&statistics);
            fell += usize::from(after < before);
        }
        assert!(fell > 100, "{pass} improves few modules: {fell}");
    }
}

fn costs(statistics: &Statistics) -> (u64, u64) {
    let named = |name: &str| {
        let mut rows = statistics.iter();
        rows.find(|row| row.1 == name).map_or(0, |row| row.2)
    };
    (named("cost-before-ns"), named("cost-after-ns"))
}

#[test]
fn a_second_run_changes_nothing() {
    let session = Session::default();
    let levels = LEVELS.iter().map(|level| level.pipeline);
    let passes = [
        "canonicalize",
        "cse",
        "dce",
        "simplify",
        "fold",
        "fuse",
        "unroll",
    ];
    for optimiser in levels
        .chain(passes)
        .map(|text| Optimiser::new(&session, text))
    {
        for seed in seeds() {
            let g = draw(seed);
            optimiser.require(seed, &g, |g| {
                let (once, _) = optimiser.run(g)?;
                let (twice, _) = optimiser.run(&once)?;
                let (once, twice) = (print(&session, &once), print(&session, &twice));
                (once == twice)
                    .then_some(())
                    .ok_or(format!("{once}\n{twice}"))
            });
        }
    }
}

#[test]
fn the_canonical_form_is_that_of_the_module_and_not_of_its_format() {
    let session = Session::default();
    let optimiser = Optimiser::new(&session, "canonicalize,renumber");
    for seed in seeds() {
        let g = draw(seed);
        optimiser.require(seed, &g, |g| {
            let mut first: Option<(Format, String)> = None;
            for format in [Format::Core, Format::Mic1, Format::Mic2] {
                let Ok(printed) = session.formats.print(format, g) else {
                    continue;
                };
                let parsed = session
                    .formats
                    .parse(format, &printed, 0, &Limits::default());
                let mut parsed = parsed.map_err(|found| format!("{found:?}"))?;
                verify(&mut parsed, &VerifyConfig::default());
                let canonical = print(&session, &optimiser.run(&parsed)?.0);
                match &first {
                    None => first = Some((format, canonical)),
                    Some((_, known)) if *known == canonical => {}
                    Some((other, known)) => {
                        let (format, other) = (format.name(), other.name());
                        return Err(format!("{other}:\n{known}\n{format}:\n{canonical}"));
                    }
                }
            }
            Ok(())
        });
    }
}

/// Pipelines that end at each level of the compiler.
const LOWERINGS: &[&str] = &[
    "lower-to-tensor",
    "fuse,lower-to-tensor",
    "lower-to-tensor,lower-to-loops",
    "fuse,lower-to-tensor,lower-to-loops",
    "lower-to-tensor{dot-bytes=true}",
    "fuse,lower-to-loops{dot-bytes=true}",
    "lower-to-mil",
    "fuse,lower-to-mil",
];

#[test]
fn every_level_reads_back_what_it_prints() {
    let session = Session::default();
    let levels = LEVELS.iter().map(|level| level.pipeline);
    let passes = [
        "canonicalize",
        "fold",
        "fuse",
        "cse",
        "dce",
        "unfuse",
        "renumber",
    ];
    let all = levels.chain(passes).chain(LOWERINGS.iter().copied());
    // The features that MIL supports.
    let narrow = Config {
        dtypes: vec![DType::F32, DType::F16],
        symbols: false,
        ops: 6,
        accepts: None,
        // MIL computes only sums with all intermediate results, and resamples only two-dimensional images.
        without: vec![
            Acosh::DEF,
            Asinh::DEF,
            Atan2::DEF,
            Bitcast::DEF,
            Cumulative::DEF,
            ReduceWindow::DEF,
            Sort::DEF,
            TopK::DEF,
            If::DEF,
            While::DEF,
            Scan::DEF,
            // MIL needs constant scales, but random ones are mostly inputs. Sums may be drawn in f64.
            Quantize::DEF,
            Dequantize::DEF,
            BlockMatMul::DEF,
            DotGeneral::DEF,
            ArgMaxWindow::DEF,
            Resize::DEF,
            GridSample::DEF,
        ],
    };
    for optimiser in all.map(|text| Optimiser::new(&session, text)) {
        let config = if optimiser.text.ends_with("mil") {
            narrow.clone()
        } else {
            Config::default()
        };
        let mut reached = 0;
        // A lowering may refuse an unknown extent or a dtype, which other tests cover.
        for seed in seeds() {
            let g = draw_from(seed, &config);
            optimiser.require(seed, &g, |g| match optimiser.run(g) {
                Ok((result, _)) => reads_back(&session, &result),
                // A pass may reject a module, but a module that it accepts must stay valid.
                Err(why) if why.starts_with("Pass") => Ok(()),
                Err(why) => Err(why),
            });
            reached += usize::from(optimiser.run(&g).is_ok());
        }
        let text = optimiser.text;
        assert!(reached * 8 > seeds().count(), "{text} takes {reached}");
    }
}

/// Checks that each format either refuses the module, or prints a text that parses, verifies and prints the same.
fn reads_back(session: &Session, g: &Graph) -> Result<(), String> {
    for &format in Format::ALL {
        let Ok(printed) = session.formats.print(format, g) else {
            if format == Format::Core {
                return Err("Core text cannot say the module".to_owned());
            }
            continue;
        };
        let parsed = session
            .formats
            .parse(format, &printed, 0, &Limits::default());
        let mut parsed = parsed.map_err(|found| format!("{found:?}\n{printed}"))?;
        let found = verify(&mut parsed, &VerifyConfig::default());
        if found.has_errors() {
            return Err(format!("{found:?}\n{printed}"));
        }
        let again = session.formats.print(format, &parsed);
        if again.as_ref().ok() != Some(&printed) {
            return Err(format!("{printed}\nis read as\n{again:?}"));
        }
    }
    Ok(())
}

#[test]
fn text_says_all_of_a_module() {
    let session = Session::default();
    for seed in seeds() {
        let g = draw(seed);
        let text = print(&session, &g);
        for &format in Format::ALL {
            // A format refuses modules that it cannot express.
            let Ok(printed) = session.formats.print(format, &g) else {
                assert_ne!(format, Format::Core);
                continue;
            };
            let parsed = session
                .formats
                .parse(format, &printed, 0, &Limits::default());
            let mut parsed = parsed.unwrap_or_else(|found| panic!("{found:?}\n{printed}"));
            assert!(!verify(&mut parsed, &VerifyConfig::default()).has_errors());
            let again = session.formats.print(format, &parsed);
            assert_eq!(again.as_ref().ok(), Some(&printed), "seed {seed}");
            if let Err(why) = same_graphs(&g, &parsed) {
                panic!("seed {seed}, {}: {why}\n{text}\n{printed}", format.name());
            }
        }
    }
}

/// Pipelines that form fusion groups: the pass alone, and after passes that enable more groups.
const GROUPING: [&str; 2] = ["fuse", "simplify,fold,simplify,fuse,cse,dce"];

/// Checks that each fusion group of a module becomes one kernel, as the cost model assumes, and returns the number of
/// groups. A group with data-dependent extents is lowered once they are known.
fn groups(session: &Session, g: &Graph) -> Result<usize, String> {
    let is_open = |value: ValueId| g.ty(value).shape.contains(&Dim::Dynamic);
    let is_known = |op: OpId| {
        let operands = g.operands(op).iter().copied();
        !operands.chain(g.results(op)).any(is_open)
    };
    let groups = g.ops(g.body()).filter(|&op| g.is::<Fused>(op));
    let groups: Vec<OpId> = groups.filter(|&op| is_known(op)).collect();
    for &group in &groups {
        let alone = alone(g, group);
        let lowering = lowering(&alone);
        let (_, statistics) = Optimiser::new(session, &lowering).run(&alone)?;
        let mut rows = statistics.iter();
        let kernels = rows.find(|row| row.1 == "kernels").map_or(0, |row| row.2);
        if kernels != 1 {
            let text = print(session, &alone);
            return Err(format!("a group of {kernels} kernels:\n{text}"));
        }
    }
    Ok(groups.len())
}

/// Returns the module of a single group.
fn alone(g: &Graph, group: OpId) -> Graph {
    let mut g = g.clone();
    let operands = g.operands(group).to_vec();
    for (index, operand) in operands.into_iter().enumerate() {
        let ty = g.type_id(operand).expect("a verified value has a type");
        let attrs = Input::attrs(g.intern(&format!("operand{index}")), false, None);
        let input = Builder::before(&mut g, group).create_typed(Input::DEF, &[], &attrs, &[ty]);
        let value = g.result(input);
        g.set_operand(group, index, value);
    }
    let end = g.terminator(g.body()).expect("a verified body ends");
    let results: Vec<ValueId> = g.results(group).into_iter().collect();
    g.set_outputs(&results);
    let ops: Vec<OpId> = g.ops(g.body()).filter(|&op| op != end).collect();
    for op in ops.into_iter().rev() {
        let mut results = g.results(op).into_iter();
        if results.all(|value| g.uses(value).is_empty()) {
            g.erase(op);
        }
    }
    g
}

/// Returns the lowering after giving distinct extents to the symbols of the module, and one extent to all unnamed
/// dimensions.
fn lowering(g: &Graph) -> String {
    let values = g.ops(g.body()).flat_map(|op| g.results(op));
    let dims = values.flat_map(|value| g.ty(value).shape.iter());
    let names: BTreeSet<String> = dims
        .filter(|dim| matches!(dim, Dim::Symbol(_) | Dim::Dynamic))
        .map(|dim| dim.display(g.symbols()).to_string())
        .collect();
    let extents = names.iter().zip(3..);
    let extents: Vec<String> = extents.map(|(name, at)| format!("{name}:{at}")).collect();
    if extents.is_empty() {
        return "lower-to-loops".to_owned();
    }
    format!("specialize{{dims={}}},lower-to-loops", extents.join("+"))
}

#[test]
fn each_group_of_a_drawn_module_is_one_kernel() {
    let session = Session::default();
    for optimiser in GROUPING.map(|text| Optimiser::new(&session, text)) {
        let found = Cell::new(0);
        for seed in seeds() {
            let ops = 8 + seed as usize % 24;
            let config = Config {
                ops,
                ..Config::default()
            };
            optimiser.require(seed, &draw_from(seed, &config), |g| {
                let groups = groups(&session, &optimiser.run(g)?.0)?;
                found.set(found.get() + groups);
                Ok(())
            });
        }
        assert!(found.get() > seeds().count() / 2, "{} groups", found.get());
    }
}

/// Returns the modules of the suite: each valid chunk of each file, unless it contains handwritten groups.
fn suite(session: &Session) -> Vec<(PathBuf, Graph)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../examples"), root.to_owned()];
    let mut modules = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the tree") {
            let path = entry.expect("an entry").path();
            let format = match path.extension().and_then(|end| end.to_str()) {
                Some("core") => Format::Core,
                Some("mic") => Format::Mic1,
                Some("mic2") => Format::Mic2,
                None if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                _ => continue,
            };
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for (part, text) in text.split("# -----").enumerate() {
                let title = text.find('\n').filter(|_| part > 0);
                let text = &text[title.unwrap_or(0)..];
                let parsed = (session.formats).parse(format, text, 0, &Limits::default());
                if let Ok(mut g) = parsed
                    && !verify(&mut g, &VerifyConfig::default()).has_errors()
                    && !g.ops(g.body()).any(|op| g.is::<Fused>(op))
                {
                    modules.push((path.clone(), g));
                }
            }
        }
    }
    modules
}

#[test]
fn each_group_of_an_input_of_the_suite_is_one_kernel() {
    let session = Session::default();
    let suite = suite(&session);
    for optimiser in GROUPING.map(|text| Optimiser::new(&session, text)) {
        let mut found = 0;
        for (path, g) in &suite {
            let fused = optimiser.run(g).map(|(fused, _)| groups(&session, &fused));
            // A pass may reject a module.
            let groups = fused.unwrap_or(Ok(0));
            found += groups.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        }
        assert!(found > 100, "only {found} groups");
    }
}
