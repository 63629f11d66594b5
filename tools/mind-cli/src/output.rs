//! Output file and format of a tool, from `--to` and the extension of `-o`.

use clap::{Arg, ArgMatches};
use mind_driver::formats::{FormatInfo, Output, OutputError, Write, extension, is_temporary};
use mind_driver::host::Host;

use crate::usage_error;

/// Returns the argument that names the output file.
pub fn arg(help: &'static str) -> Arg {
    Arg::new("output").short('o').value_name("OUT").help(help)
}

/// Help of [`arg`] for tools whose output is a single text.
pub const FILE: &str = "write there, not to standard output; its extension selects the format";

/// Returns the file of `-o`; `None` without `-o` or with `-`, which is standard output.
pub fn file(matches: &ArgMatches) -> Option<&String> {
    let path = matches.get_one::<String>("output");
    path.filter(|path| *path != "-")
}

/// Returns the output that the command line requests; `writes` selects the formats that the tool can write.
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
/// Returns the exit code after reporting that the name selects no format.
pub fn format(
    output: &Output<'_>,
    input: Option<&FormatInfo>,
    host: &mut dyn Host,
) -> Result<Option<&'static FormatInfo>, u8> {
    let format = output.format(input);
    format.map_err(|error| usage_error(host, &format!("{error}; {}", way_out(&error))))
}

/// Returns the help for a name that selects no format.
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

/// Checks that the extension of an output file is one of `ends`; `what` names the contents in the error.
///
/// # Errors
///
/// Errors, in one line, if it is not.
pub fn check_name(path: &str, what: &str, ends: &[&str]) -> Result<(), String> {
    let is_own = |end: &str| ends.iter().any(|own| own.eq_ignore_ascii_case(end));
    match extension(path) {
        Some(end) if !is_own(end) && !is_temporary(path) => {
            let ends = ends.join("`, `.");
            Err(format!(
                "`{path}` would contain {what}: its extension must be `.{ends}`"
            ))
        }
        _ => Ok(()),
    }
}

/// Checks that the extension of an output file without a module is not that of a module format; `what` names the
/// contents.
///
/// # Errors
///
/// Errors, in one line, if it is.
pub fn check_not_module(path: &str, what: &str) -> Result<(), String> {
    match FormatInfo::named_by(path) {
        Some(row) => Err(format!(
            "`{path}` would contain {what}, but its extension is that of `{}`",
            row.word
        )),
        None => Ok(()),
    }
}
