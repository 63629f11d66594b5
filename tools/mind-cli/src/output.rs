//! Where a tool writes, and in which format: `--to`, and the extension of the file that `-o` names.

use clap::{Arg, ArgMatches};
use mind_driver::formats::{FormatInfo, Output, OutputError, Write, extension, is_temporary};
use mind_driver::host::Host;

use crate::usage_error;

/// The argument that names the output file.
pub fn arg(help: &'static str) -> Arg {
    Arg::new("output").short('o').value_name("OUT").help(help)
}

/// The help of [`arg`] where the output is one text.
pub const FILE: &str = "write there, not to standard output; its extension selects the format";

/// Returns the file that `-o` names; `None` without one, and for `-`, which is standard output.
pub fn file(matches: &ArgMatches) -> Option<&String> {
    let path = matches.get_one::<String>("output");
    path.filter(|path| *path != "-")
}

/// Returns the output that `--to` and `-o` ask a tool for, which writes the formats that `writes` says.
pub fn asked(matches: &ArgMatches, writes: fn(&FormatInfo) -> bool) -> Output<'_> {
    let to = matches.get_one::<String>("to");
    Output {
        to: to.and_then(|word| FormatInfo::named(word)),
        path: file(matches).map(String::as_str),
        writes,
    }
}

/// Returns the format of `output`, where the module was read from `input`; see [`Output::format`].
///
/// # Errors
///
/// The exit code, after a name that leads to no format was reported.
pub fn format(
    output: &Output<'_>,
    input: Option<&FormatInfo>,
    host: &mut dyn Host,
) -> Result<Option<&'static FormatInfo>, u8> {
    let format = output.format(input);
    format.map_err(|error| usage_error(host, &format!("{error}; {}", way_out(&error))))
}

/// The fix for a name that leads to no format.
fn way_out(error: &OutputError) -> String {
    match error {
        OutputError::Contradiction { .. } => {
            "leave `--to` out, or name the file otherwise".to_owned()
        }
        OutputError::Unknown { .. } => "`--to FORMAT` writes to a file of any name".to_owned(),
        OutputError::NotWritten { path, named, .. } => {
            match FormatInfo::named(named).and_then(|row| row.write) {
                None => format!("`{named}` is only read"),
                Some(Write::Description) => {
                    format!("`mind-translate --from hf -o {path}` writes it, of a model")
                }
                Some(
                    Write::Text(_)
                    | Write::Program(_)
                    | Write::Package
                    | Write::Binary(_)
                    | Write::C(_)
                    | Write::Object(_)
                    | Write::Drawing(_),
                ) => format!("`mind-translate -o {path}` writes it"),
            }
        }
    }
}

/// Checks that the name of an output file ends in one of `ends`; `what` names its contents in the error.
///
/// # Errors
///
/// A name with another extension, in one line.
pub fn check_name(path: &str, what: &str, ends: &[&str]) -> Result<(), String> {
    let is_own = |end: &str| ends.iter().any(|own| own.eq_ignore_ascii_case(end));
    match extension(path) {
        Some(end) if !is_own(end) && !is_temporary(path) => {
            let ends = ends.join("`, `.");
            Err(format!(
                "`{path}` gets {what}: let its name end in `.{ends}`"
            ))
        }
        _ => Ok(()),
    }
}

/// Checks that the name of an output file that is not a module does not end as one; `what` names its contents.
///
/// # Errors
///
/// Such a name, in one line.
pub fn check_not_module(path: &str, what: &str) -> Result<(), String> {
    match FormatInfo::named_by(path) {
        Some(row) => Err(format!(
            "`{path}` is named as a file of `{}`, and gets {what}",
            row.word
        )),
        None => Ok(()),
    }
}
