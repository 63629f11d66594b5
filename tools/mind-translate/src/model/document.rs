//! `mind-translate` on descriptions of decoder models.

use std::path::Path;

use clap::{Arg, ArgAction, Command};
use mind_cli::style;
use mind_cli::{DiagnosticFormat, REJECTED};
use mind_diag::{Diagnostic, Severity, Span};
use mind_driver::host::Host;
use mind_irv2::{ReadOptions, write};
use mind_model::{Files, WeightsAt};

use super::{nowhere, refuse};

/// The formats of descriptions: a folder of Hugging Face, and documents.
const FORMATS: [&str; 2] = ["hf", "irv2"];

/// Runs `mind-translate`: on a description of a model where `--from` or `--to` names one, else on a module.
pub(super) fn run(args: &[String], host: &mut dyn Host) -> Option<u8> {
    names_description(args).then(|| translated(args, host).unwrap_or_else(|code| code))
}

/// Whether `--from` or `--to` has a format of descriptions.
fn names_description(args: &[String]) -> bool {
    let joined = args.iter().filter_map(|arg| arg.split_once('='));
    let apart = args
        .windows(2)
        .map(|pair| (pair[0].as_str(), pair[1].as_str()));
    joined
        .chain(apart)
        .any(|(option, word)| matches!(option, "--from" | "--to") && FORMATS.contains(&word))
}

fn command() -> Command {
    Command::new("mind-translate")
        .about("Writes the IR v2 document of a decoder model")
        .version(env!("CARGO_PKG_VERSION"))
        .arg(Arg::new("MODEL").required(true).help(
            "a folder with config.json, that file, a GGUF file, or a document to be written anew",
        ))
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("FORMAT")
                .value_parser(FORMATS)
                .help("what MODEL is, instead of telling it from the content"),
        )
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("FORMAT")
                .value_parser(["irv2"])
                .required(true)
                .help("the output's format"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("write there, not to standard output"),
        )
        .arg(
            Arg::new("weights")
                .long("weights")
                .value_name("PATH")
                .help("the weights: a file or a folder, instead of those beside the configuration"),
        )
        .arg(
            Arg::new("allow-unknown")
                .long("allow-unknown")
                .action(ArgAction::SetTrue)
                .help("keep members of a document that the format does not have"),
        )
        .arg(mind_cli::diagnostic_format_arg())
        .args(style::args())
}

/// # Errors
///
/// The exit code, after the reason has been reported.
fn translated(args: &[String], host: &mut dyn Host) -> Result<u8, u8> {
    let matches = mind_cli::parse(command(), args, host)?;
    let word = |name: &str| matches.get_one::<String>(name);
    let form = DiagnosticFormat::of(&matches);
    let path = Path::new(word("MODEL").map_or("", String::as_str));
    let options = ReadOptions {
        allow_unknown: matches.get_flag("allow-unknown"),
        unknown_flag: Some("--allow-unknown"),
    };
    let weights = match word("weights") {
        Some(path) => WeightsAt::Path(Path::new(path)),
        None => WeightsAt::BesideConfig,
    };
    let files = Files::open(path, weights, host);
    let files = files.map_err(|why| {
        refuse(host, why, &nowhere(), form);
        REJECTED
    })?;
    let wanted = word("from").map(|from| from == "irv2");
    if wanted.is_some_and(|wanted| wanted != files.is_document()) {
        let message = if files.is_document() {
            "the file is a document of IR v2: `--from irv2` reads it"
        } else {
            "the file is no document of IR v2"
        };
        let help = "`--from hf` reads a `config.json`, its folder or a `.gguf` file, `--from irv2` a document";
        let found = Diagnostic::error(Span::FILE, message).help(help);
        mind_cli::report_one(host, found, &files.config, form);
        return Err(REJECTED);
    }
    let read = files.document(&options);
    let (document, mut warnings) = read.map_err(|why| {
        refuse(host, why, &files.config, form);
        REJECTED
    })?;
    if !files.is_document() && !files.has_weights() {
        let message = "there are no weights beside the configuration: biases and dtypes are those of its family";
        warnings.push(Diagnostic::new(Severity::Note, Span::FILE, message));
    }
    mind_cli::report(host, &warnings, &files.config, form);
    Ok(mind_cli::write_output(
        host,
        word("output"),
        &write(&document),
    ))
}
