//! C of a model from the command line.

use std::path::Path;

use clap::{Arg, Command};
use mind_cli::fail;
use mind_cli::style;
use mind_cli::{DONE, DiagnosticFormat, REJECTED, value};
use mind_driver::host::Host;
use mind_model::c::{Tensors, c_program};
use mind_model::{Files, WeightsAt};

use super::{nowhere, refuse, report};

/// Tokens that the cache of a program has room for unless said.
const CAPACITY: &str = "512";

/// Whether the arguments say that the input is the folder of a model.
pub(super) fn asks_for_model(args: &[String]) -> bool {
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        let is_named = |word: &&String| matches!(word.as_str(), "hf" | "irv2");
        let is_from = word == "--from" && words.peek().is_some_and(is_named);
        if is_from || word == "--from=hf" || word == "--from=irv2" {
            let is_c = |word: &String| word == "--to=c" || word == "c";
            return args.iter().any(is_c);
        }
    }
    false
}

fn command() -> Command {
    Command::new("mind-translate")
        .about("Writes a decoder model as one file of C")
        .version(env!("CARGO_PKG_VERSION"))
        .arg(
            Arg::new("MODEL")
                .required(true)
                .help("a folder with config.json, or a document of IR v2, beside safetensors"),
        )
        .arg(value("from", "FORMAT", "what MODEL is").value_parser(["hf", "irv2"]))
        .arg(value("to", "FORMAT", "c: one file of C").value_parser(["c"]))
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("write there, not to standard output"),
        )
        .arg(
            value(
                "capacity",
                "TOKENS",
                "tokens that a run of the program has room for",
            )
            .default_value(CAPACITY)
            .value_parser(clap::value_parser!(usize)),
        )
        .args(style::args())
}

/// Runs the tool; see `--help`.
pub(super) fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let matches = match mind_cli::parse(command(), args, host) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let capacity = matches.get_one("capacity").copied().unwrap_or(1);
    match text(word("MODEL"), capacity, host) {
        Ok(text) => write(matches.get_one("output"), &text, host),
        Err(()) => REJECTED,
    }
}

/// # Errors
///
/// The reason has been reported.
fn text(path: &str, capacity: usize, host: &mut dyn Host) -> Result<String, ()> {
    let files = Files::open(Path::new(path), WeightsAt::Beside, host);
    let files = files.map_err(|why| refuse(host, why, &nowhere(), DiagnosticFormat::Text))?;
    let read = files.model();
    let (document, checkpoint, warnings) =
        read.map_err(|why| refuse(host, why, &files.config, DiagnosticFormat::Text))?;
    report(host, &warnings, &files.config);
    let config = &document.config;
    let capacity = capacity.min(config.context_window);
    let tensors = Tensors::new(config, &checkpoint, &files.weights());
    let tensors = tensors.map_err(|why| fail(host, &why))?;
    c_program(config, &tensors, capacity).map_err(|why| fail(host, &why))
}

fn write(path: Option<&String>, text: &str, host: &mut dyn Host) -> u8 {
    let Some(path) = path else {
        mind_cli::print(host, text);
        return DONE;
    };
    match host.write(Path::new(path), text.as_bytes()) {
        Ok(()) => DONE,
        Err(why) => {
            fail(host, &format!("{path}: {why}"));
            REJECTED
        }
    }
}
