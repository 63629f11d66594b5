//! `mind-translate`: from one format to another.

use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_diag::{Diagnostics, SourceFile};
use mind_ir::Graph;
use mind_pass::{OptionInfo, OptionKind, Options};
use mind_text::Format;

use super::cli::{self, DONE, DiagnosticFormat, REJECTED, USAGE};
use crate::emit::emit;
use crate::host::Host;
use crate::load::{Loaded, load_module};
use crate::session::Session;
use crate::weights;

/// What `--to` calls a Core ML package.
const PACKAGE: &str = "mlpackage";
const LOWERING: &str = "What core and tensor ops become in MIL";

fn command() -> Command {
    let formats: Vec<&str> = Format::ALL
        .iter()
        .map(|format| format.name())
        .chain([PACKAGE])
        .collect();
    Command::new("mind-translate")
        .about("Translates a module from one format to another, unchanged otherwise")
        .version(env!("CARGO_PKG_VERSION"))
        .args(cli::input_args())
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("FORMAT")
                .value_parser(formats)
                .required(true)
                .help("the output's format; MIL and packages are lowered to, where the module is no program"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("write there, not to standard output; a package is a folder and needs it"),
        )
        .args(mind_to_mil::PASS.options.iter().map(lowering_arg))
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
    match translate(args, host) {
        Ok(code) | Err(code) => code,
    }
}

/// Errors: the exit code, after the reason has been reported.
fn translate(args: &[String], host: &mut dyn Host) -> Result<u8, u8> {
    let matches = cli::parse(command(), args, host)?;
    let options = cli::load_options(&matches);
    let form = DiagnosticFormat::of(&matches);
    let path = matches
        .get_one::<String>("FILE")
        .map_or("-", String::as_str);
    let bytes = cli::read_input(host, path, options.limits.bytes)?;
    let session = Session::default();
    let loaded = load_module(&session.formats, cli::input_name(path), bytes, &options);
    let Loaded {
        file,
        format,
        mut graph,
    } = loaded.map_err(|rejected| {
        cli::report(host, &rejected.diagnostics, &rejected.file, form);
        REJECTED
    })?;
    let word = matches.get_one::<String>("to").map_or("", String::as_str);
    let wanted = Format::parse(word);
    if matches!(wanted, None | Some(Format::Mil | Format::MilPrimer)) {
        let config = lowering(&matches, host)?;
        let lowered = mind_to_mil::lower(&mut graph, &config);
        lowered.map_err(|found| reject(host, &found, &file, form))?;
    }
    if word == PACKAGE {
        return package(&mut graph, path, options.limits.bytes, &matches, host)
            .map_err(|found| found.map_or(REJECTED, |found| reject(host, &found, &file, form)));
    }
    match emit(&session.formats, &graph, format, wanted) {
        Ok(emitted) => Ok(cli::write_output(
            host,
            matches.get_one("output"),
            &emitted.text,
        )),
        Err(found) => Err(reject(host, &found, &file, form)),
    }
}

fn reject(
    host: &mut dyn Host,
    found: &Diagnostics,
    file: &SourceFile,
    form: DiagnosticFormat,
) -> u8 {
    cli::report(host, found, file, form);
    REJECTED
}

/// What the lowering is asked for.
///
/// Errors: the exit code, after a pair without `=` was reported.
fn lowering(matches: &ArgMatches, host: &mut dyn Host) -> Result<mind_to_mil::Config, u8> {
    let given = mind_to_mil::PASS.options.iter().filter_map(|option| {
        let value = matches.get_one::<String>(option.name)?;
        Some((option.name.to_owned(), value.clone()))
    });
    let mut config = mind_to_mil::config(&Options::new(
        &mind_to_mil::PASS,
        &given.collect::<Vec<_>>(),
    ));
    if let Some(pairs) = matches.get_many::<String>("build-info") {
        config.build_info.clear();
        for pair in pairs {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(cli::usage_error(
                    host,
                    &format!("`--build-info={pair}` is no KEY=VALUE"),
                ));
            };
            config.build_info.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(config)
}

/// Writes a package into the folder that `-o` names.
///
/// Errors: what the program cannot say, or none after a failure of the host was reported.
fn package(
    graph: &mut Graph,
    path: &str,
    limit: u64,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<u8, Option<Diagnostics>> {
    let Some(folder) = matches.get_one::<String>("output") else {
        cli::usage_error(
            host,
            "a package is a folder: name it with `-o NAME.mlpackage`",
        );
        return Ok(USAGE);
    };
    weights::read(graph, path, limit, host).map_err(Some)?;
    mind_mil::names::settle(graph);
    let package = mind_mlpackage::package(graph).map_err(Some)?;
    let folder = std::path::Path::new(folder);
    let data = folder.join("Data").join("com.apple.CoreML");
    let files: [(std::path::PathBuf, &[u8]); 3] = [
        (data.join("weights").join("weight.bin"), &package.weights),
        (data.join("model.mlmodel"), &package.model),
        (folder.join("Manifest.json"), package.manifest.as_bytes()),
    ];
    let written = host.create_dir(&data.join("weights"));
    let written = files.iter().fold(written, |written, (path, bytes)| {
        written.and_then(|()| host.write(path, bytes))
    });
    match written {
        Ok(()) => Ok(DONE),
        Err(error) => {
            cli::print_error(host, &format!("error: {}: {error}\n", folder.display()));
            Err(None)
        }
    }
}
