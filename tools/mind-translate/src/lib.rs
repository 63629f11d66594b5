//! `mind-translate`: from one format to another.

mod model;
mod tokens;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_cli::input;
use mind_cli::{DONE, DiagnosticFormat, PACKAGE, REJECTED, ToolInfo, USAGE};
use mind_diag::{Diagnostics, SourceFile};
use mind_draw::Detail;
use mind_driver::draw;
use mind_driver::emit::emit;
use mind_driver::engine::c_text;
use mind_driver::failure;
use mind_driver::formats::Format;
use mind_driver::host::Host;
use mind_driver::load::{Loaded, load_module};
use mind_driver::patch::{self, Edit, PatchError};
use mind_driver::session::{PASSES, Session};
use mind_driver::weights;
use mind_ir::Graph;
use mind_ir::listener::Silent;
use mind_ir::verify::VerifyConfig;
use mind_pass::{
    Manager, OptionInfo, OptionKind, Options, Pipeline, Rewriting, Shared, Statistics,
    parse_pipeline,
};
use mind_to_mil::Extents;

/// What `--to` calls a C file.
const C: &str = "c";
/// What `--to` calls drawings: of Graphviz, as a picture, on a page with the text.
const DRAWINGS: [&str; 3] = ["dot", "svg", "html"];
const LOWERING: &str = "What core and tensor ops become in MIL";

const MODELS: &str = "Descriptions of decoder models:
  --from hf --to irv2 FOLDER    an IR v2 document, from config.json and weights
  --from hf --to c FOLDER       the model as one C file
  --from irv2 --to irv2 FILE    a document in canonical form
`mind-translate --from hf --to irv2 --help` and `--from hf --to c --help` list their options. A document without \
`--from` is read as a module.

Exit status: 0 done, 1 the input was rejected, 2 usage.";

/// The tool.
pub const TOOL: ToolInfo = ToolInfo {
    name: "mind-translate",
    run,
    command,
};

/// The command line of the tool.
pub fn command() -> Command {
    let formats: Vec<&str> = Format::ALL
        .iter()
        .map(|format| format.name())
        .chain([PACKAGE, C])
        .chain(DRAWINGS)
        .collect();
    Command::new("mind-translate")
        .about("Translates a module from one format to another, unchanged unless passes are named")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(MODELS)
        .args(mind_cli::module_args())
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("FORMAT")
                .value_parser(formats)
                .required_unless_present_any(["patch", "token-report"])
                .help(
                    "the output's format; MIL and packages are lowered to, where the module is no program; with \
                     `--patch` the input's own where not given",
                ),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("write there, not to standard output; a package is a folder and needs it"),
        )
        .arg(
            Arg::new("patch")
                .long("patch")
                .value_name("EDITS")
                .help("make the edits of this JSON file first, all or none; `docs/patching.md` describes them"),
        )
        .arg(
            Arg::new("token-report")
                .long("token-report")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["to", "patch"])
                .help("print how many bytes and tokens the module takes in every format, and as JSON"),
        )
        .arg(
            mind_cli::value(
                "dim",
                "NAME=EXTENT",
                "write this extent for a symbolic dimension first",
            )
            .action(ArgAction::Append)
            .value_parser(ValueParser::new(mind_cli::parse_dim)),
        )
        .arg(mind_cli::value(
            "pass-pipeline",
            "TEXT",
            "run these passes first: `import-mil,canonicalize`",
        ))
        .arg(
            Arg::new("function")
                .long("function")
                .value_name("NAME")
                .default_value("module")
                .help("what the function of a C file is called"),
        )
        .arg(
            Arg::new("main")
                .long("main")
                .action(ArgAction::SetTrue)
                .help("make a C file a program that reads inputs from stdin and writes outputs to stdout"),
        )
        .arg(
            Arg::new("all-ops")
                .long("all-ops")
                .action(ArgAction::SetTrue)
                .help("draw every op: no folding of repeated layers, no overview below 1,000 boxes"),
        )
        .args(mind_to_mil::PASS.options.iter().map(lowering_arg))
        .arg(
            Arg::new("flexible")
                .long("flexible")
                .value_name("DIM=EXTENTS")
                .action(ArgAction::Append)
                .help("keep a symbolic dimension open: B=1..32 for a range, B=1,2,4 for a list")
                .help_heading(LOWERING),
        )
        .arg(
            Arg::new("build-info")
                .long("build-info")
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .help("what the program says of its making, instead of the tool's own name")
                .help_heading(LOWERING),
        )
}

/// An option of the lowering as a flag.
fn lowering_arg(option: &'static OptionInfo) -> Arg {
    let arg = Arg::new(option.name)
        .long(option.name)
        .value_name("WORD")
        .help(option.summary);
    let arg = match option.kind {
        OptionKind::Word(words) => arg.value_parser(words.to_vec()),
        OptionKind::Count | OptionKind::Flag | OptionKind::Extents => arg,
    };
    arg.default_value(option.default).help_heading(LOWERING)
}

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    if let Some(code) = model::run(args, host) {
        return code;
    }
    match translate(args, host) {
        Ok(code) | Err(code) => code,
    }
}

/// # Errors
///
/// The exit code, after the reason has been reported.
fn translate(args: &[String], host: &mut dyn Host) -> Result<u8, u8> {
    let matches = mind_cli::parse(command(), args, host)?;
    let options = mind_cli::load_options(&matches);
    let form = DiagnosticFormat::of(&matches);
    let path = matches
        .get_one::<String>("FILE")
        .map_or("-", String::as_str);
    let given = input::read(host, path, &options)?;
    let session = Session::default();
    let loaded = load_module(
        &session.formats,
        mind_cli::input_name(path),
        given.bytes,
        &given.options,
    );
    let mut loaded = loaded.map_err(|rejected| {
        mind_cli::report(host, &rejected.diagnostics, &rejected.file, form);
        REJECTED
    })?;
    mind_cli::report(host, &loaded.warnings, &loaded.file, form);
    if matches.get_flag("token-report") {
        let text = tokens::report(&session.formats, &loaded.graph).text();
        return Ok(mind_cli::write_output(
            host,
            matches.get_one("output"),
            &text,
        ));
    }
    if let Some(edits) = matches.get_one::<String>("patch") {
        loaded.graph = patched(&loaded, edits, &session, &matches, host)?;
    }
    prepared(&mut loaded, &session, &matches, host)?;
    let Loaded {
        file,
        format,
        mut graph,
        ..
    } = loaded;
    let word = matches
        .get_one::<String>("to")
        .map_or(format.name(), String::as_str);
    let wanted = Format::parse(word);
    if word == C {
        let name = matches
            .get_one::<String>("function")
            .map_or("module", String::as_str);
        let text = c_text(&session, graph, name, matches.get_flag("main"));
        let text = text.map_err(|found| reject(host, &found, &file, form))?;
        return Ok(mind_cli::write_output(
            host,
            matches.get_one("output"),
            &text,
        ));
    }
    if DRAWINGS.contains(&word) {
        let detail = if matches.get_flag("all-ops") {
            Detail::Complete
        } else {
            Detail::Folded
        };
        let text = drawn(&session, &graph, format, word, file.name(), detail);
        return Ok(mind_cli::write_output(
            host,
            matches.get_one("output"),
            &text,
        ));
    }
    if matches!(wanted, None | Some(Format::Mil | Format::MilPrimer)) {
        let config = lowering(&matches, host)?;
        let lowered = mind_to_mil::lower(&mut graph, &config);
        lowered.map_err(|found| reject(host, &found, &file, form))?;
    }
    if word == PACKAGE {
        return package(
            &mut graph,
            &given.path,
            options.limits.bytes,
            &matches,
            host,
        )
        .map_err(|found| found.map_or(REJECTED, |found| reject(host, &found, &file, form)));
    }
    match emit(&session.formats, &graph, format, wanted) {
        Ok(emitted) => {
            mind_cli::report(host, &emitted.warnings, &file, form);
            let path = matches.get_one("output");
            Ok(mind_cli::write_output(host, path, &emitted.text))
        }
        Err(found) => Err(reject(host, &found, &file, form)),
    }
}

/// Writes the extents of `--dim` and runs the passes of `--pass-pipeline`.
///
/// # Errors
///
/// The exit code, after the reason has been reported.
fn prepared(
    loaded: &mut Loaded,
    session: &Session,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<(), u8> {
    let form = DiagnosticFormat::of(matches);
    let dims = matches.get_many::<(String, usize)>("dim");
    let dims = dims.into_iter().flatten();
    let dims: Vec<String> = dims
        .map(|(name, extent)| format!("{name}:{extent}"))
        .collect();
    let specialize = match dims.as_slice() {
        [] => None,
        dims => Some(format!("specialize{{dims={}}}", dims.join(","))),
    };
    let named = matches.get_one::<String>("pass-pipeline").cloned();
    let mut pipeline = Pipeline::default();
    let texts = [("<--dim>", specialize), ("<pass-pipeline>", named)];
    for (name, text) in texts {
        let Some(text) = text else { continue };
        let parsed = parse_pipeline(&text, &PASSES).map_err(|found| {
            mind_cli::report(host, &found, &SourceFile::new(name, text), form);
            USAGE
        })?;
        pipeline.steps.extend(parsed.steps);
    }
    let manager = Manager {
        registry: &session.registry,
        verify_each: true,
        verify: VerifyConfig {
            profile: mind_cli::load_options(matches).profile,
        },
        rewriting: &Rewriting::default(),
        shared: &Shared::default(),
    };
    let mut statistics = Statistics::default();
    let ran = manager.run(&pipeline, &mut loaded.graph, &mut statistics, &mut Silent);
    ran.map_err(|failure| reject(host, &failure::diagnostics(failure), &loaded.file, form))
}

/// The module after the edits in the file `path`.
///
/// # Errors
///
/// The exit code, after the reason has been reported.
fn patched(
    loaded: &Loaded,
    path: &str,
    session: &Session,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<Graph, u8> {
    let (options, form) = (
        mind_cli::load_options(matches),
        DiagnosticFormat::of(matches),
    );
    let refuse = |host: &mut dyn Host, why: String| {
        mind_cli::print_error(
            host,
            &format!("error: {}: {why}\n", mind_cli::input_name(path)),
        );
        REJECTED
    };
    if matches!(loaded.format, Format::Mil | Format::MilPrimer) {
        let why =
            "values of MIL have names, not ids; patch the module that it was made of".to_owned();
        return Err(refuse(host, why));
    }
    let bytes = mind_cli::read_input(host, path, options.limits.bytes)?;
    let text = String::from_utf8(bytes).map_err(|error| refuse(host, error.to_string()))?;
    let edits = Edit::read_all(&text).map_err(|error| refuse(host, error.to_string()))?;
    let config = VerifyConfig {
        profile: options.profile,
    };
    patch::apply(&loaded.graph, &edits, &session.registry, &config).map_err(|error| {
        if let PatchError::Invalid(found) = &error {
            mind_cli::report(host, found, &loaded.file, form);
        }
        refuse(host, error.to_string())
    })
}

/// The module as one of [`DRAWINGS`].
fn drawn(
    session: &Session,
    g: &Graph,
    format: Format,
    word: &str,
    name: &str,
    detail: Detail,
) -> String {
    let drawing = draw::module(g).simplified(detail);
    match word {
        "dot" => mind_draw::dot(&drawing),
        "svg" => mind_draw::svg(&drawing),
        _ => {
            let text = session.formats.print(format, g);
            draw::html(&drawing, name, &text.unwrap_or_default())
        }
    }
}

fn reject(
    host: &mut dyn Host,
    found: &Diagnostics,
    file: &SourceFile,
    form: DiagnosticFormat,
) -> u8 {
    mind_cli::report(host, found, file, form);
    REJECTED
}

/// What the lowering is asked for.
///
/// # Errors
///
/// The exit code, after a pair without `=` was reported.
fn lowering(matches: &ArgMatches, host: &mut dyn Host) -> Result<mind_to_mil::Config, u8> {
    let given = mind_to_mil::PASS.options.iter().filter_map(|option| {
        let value = matches.get_one::<String>(option.name)?;
        Some((option.name.to_owned(), value.clone()))
    });
    let mut config = mind_to_mil::config(&Options::new(
        &mind_to_mil::PASS,
        &given.collect::<Vec<_>>(),
    ));
    for given in matches.get_many::<String>("flexible").into_iter().flatten() {
        let Some(dimension) = flexible(given) else {
            let message = format!("`--flexible={given}` is no DIM=1..32 and no DIM=1,2,4");
            return Err(mind_cli::usage_error(host, &message));
        };
        config.flexible.push(dimension);
    }
    if let Some(pairs) = matches.get_many::<String>("build-info") {
        config.build_info.clear();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(mind_cli::usage_error(
                    host,
                    &format!("`--build-info={pair}` is no KEY=VALUE"),
                ));
            };
            config.build_info.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(config)
}

/// A dimension and its extents: `B=1..32` or `B=1,2,4`.
fn flexible(given: &str) -> Option<(String, Extents)> {
    let (name, extents) = given.split_once('=')?;
    let extent = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .filter(|own| (1..=65536).contains(own))
    };
    let extents = match extents.split_once("..") {
        Some((least, most)) => {
            let (least, most) = (extent(least)?, extent(most)?);
            (least <= most).then_some(Extents::Range(least, most))?
        }
        None => Extents::Listed(extents.split(',').map(extent).collect::<Option<_>>()?),
    };
    Some((name.to_owned(), extents))
}

/// Writes a package into the folder that `-o` names.
///
/// # Errors
///
/// What the program cannot say, or none after a failure of the host was reported.
fn package(
    graph: &mut Graph,
    path: &str,
    limit: u64,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<u8, Option<Diagnostics>> {
    let Some(folder) = matches.get_one::<String>("output") else {
        mind_cli::usage_error(
            host,
            "a package is a folder: name it with `-o NAME.mlpackage`",
        );
        return Ok(USAGE);
    };
    weights::read(graph, path, limit, host).map_err(Some)?;
    mind_mil::names::settle(graph);
    let package = mind_coreml::package::package(graph).map_err(Some)?;
    let folder = std::path::Path::new(folder);
    let data = std::path::Path::new("Data").join("com.apple.CoreML");
    let weights = data.join("weights").join("weight.bin");
    let files: [(&std::path::Path, &[u8]); 3] = [
        (&weights, &package.weights),
        (&data.join("model.mlmodel"), &package.model),
        (
            std::path::Path::new("Manifest.json"),
            package.manifest.as_bytes(),
        ),
    ];
    match host.write_package(folder, &files) {
        Ok(()) => Ok(DONE),
        Err(error) => {
            mind_cli::print_error(host, &format!("error: {}: {error}\n", folder.display()));
            Err(None)
        }
    }
}
