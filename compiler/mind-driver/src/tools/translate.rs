//! `mind-translate`: from one format to another.

use clap::{Arg, Command};
use mind_text::Format;

use super::cli::{self, DiagnosticFormat, REJECTED};
use crate::emit::emit;
use crate::host::Host;
use crate::load::load_module;
use crate::session::Session;

fn command() -> Command {
    Command::new("mind-translate")
        .about("Translates a module from one format to another, unchanged otherwise")
        .version(env!("CARGO_PKG_VERSION"))
        .args(cli::input_args())
        .arg(
            Arg::new("to")
                .long("to")
                .value_name("FORMAT")
                .value_parser(Format::ALL.map(Format::name))
                .required(true)
                .help("the output's format"),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("OUT")
                .help("write there, not to standard output"),
        )
}

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let matches = match cli::parse(command(), args, host) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    let options = cli::load_options(&matches);
    let form = DiagnosticFormat::of(&matches);
    let path = matches
        .get_one::<String>("FILE")
        .map_or("-", String::as_str);
    let bytes = match cli::read_input(host, path, options.limits.bytes) {
        Ok(bytes) => bytes,
        Err(code) => return code,
    };
    let session = Session::default();
    let loaded = match load_module(&session.formats, cli::input_name(path), bytes, &options) {
        Ok(loaded) => loaded,
        Err(rejected) => {
            cli::report(host, &rejected.diagnostics, &rejected.file, form);
            return REJECTED;
        }
    };
    let wanted = matches
        .get_one::<String>("to")
        .and_then(|name| Format::parse(name));
    match emit(&session.formats, &loaded.graph, loaded.format, wanted) {
        Ok(emitted) => cli::write_output(host, matches.get_one("output"), &emitted.text),
        Err(found) => {
            cli::report(host, &found, &loaded.file, form);
            REJECTED
        }
    }
}
