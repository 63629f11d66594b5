//! Arguments, reading and reporting, shared by the tools.

pub mod binary;
pub mod bisect;
pub mod constants;
pub mod diff;
mod memory_host;
#[cfg(feature = "npz")]
pub mod npz;
pub mod output;
pub mod rules;
pub mod style;

pub use memory_host::MemoryHost;

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use mind_diag::{Diagnostic, Diagnostics, Severity, SourceFile, render_json, render_text};
use mind_driver::formats::{FormatInfo, LoadOptions, Read};
use mind_driver::host::{Host, Style, Tool};
use mind_driver::input::{self, Access, FileError, Input};
use mind_ir::verify::Profile;
#[cfg(feature = "irv2")]
use mind_irv2::graph::document::Padding;
use mind_text::Limits;

/// A tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolInfo {
    /// The name of the binary.
    pub name: &'static str,
    /// The entry point.
    pub run: Tool,
    /// The command line parser.
    pub command: fn() -> Command,
}

/// Exit code: success.
pub const DONE: u8 = 0;
/// Exit code: the input was rejected.
pub const REJECTED: u8 = 1;
/// Exit code: the command line is invalid.
pub const USAGE: u8 = 2;

/// Parses a command line.
///
/// # Errors
///
/// Returns the exit code after printing the help or a usage error.
pub fn parse(command: Command, args: &[String], host: &mut dyn Host) -> Result<ArgMatches, u8> {
    let matches = command
        .no_binary_name(true)
        .try_get_matches_from(args)
        .map_err(|error| {
            let text = error.render().to_string();
            if error.use_stderr() {
                print_error(host, &text);
                USAGE
            } else {
                print(host, &text);
                DONE
            }
        })?;
    host.set_style(style::style(&matches, host));
    Ok(matches)
}

/// Writes to standard output. A closed pipe is not an error, because the reader may stop early.
///
/// On a terminal a line end is added if it is missing, so that later output starts on a new line.
pub fn print(host: &mut dyn Host, text: &str) {
    let is_open = !text.is_empty() && !text.ends_with('\n');
    let end = if is_open && host.stdout_is_terminal() {
        "\n"
    } else {
        ""
    };
    let _ = host.stdout().write_all(text.as_bytes());
    let _ = host.stdout().write_all(end.as_bytes());
}

/// Writes to standard error; failures are ignored.
pub fn print_error(host: &mut dyn Host, text: &str) {
    let _ = host.stderr().write_all(text.as_bytes());
}

/// Writes a note to standard error, unless `--quiet` is set.
pub fn note(host: &mut dyn Host, text: &str) {
    if !host.style().quiet {
        print_error(host, &format!("note: {text}\n"));
    }
}

/// Writes an error message.
pub fn fail(host: &mut dyn Host, why: &dyn std::fmt::Display) {
    print_error(host, &format!("error: {why}\n"));
}

/// Writes a usage error in one line and returns its exit code.
pub fn usage_error(host: &mut dyn Host, message: &str) -> u8 {
    print_error(host, &format!("error: {message}\n"));
    USAGE
}

/// Format of diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticFormat {
    /// Text with source lines.
    Text,
    /// JSON, one object per line.
    Json,
}

impl DiagnosticFormat {
    /// Returns the value of [`diagnostic_format_arg`].
    pub fn of(matches: &ArgMatches) -> DiagnosticFormat {
        match matches
            .get_one::<String>("diagnostic-format")
            .map(String::as_str)
        {
            Some("json") => DiagnosticFormat::Json,
            _ => DiagnosticFormat::Text,
        }
    }
}

/// Writes diagnostics to standard error.
pub fn report(
    host: &mut dyn Host,
    found: &Diagnostics,
    file: &SourceFile,
    format: DiagnosticFormat,
) {
    let Style { color, quiet, .. } = host.style();
    let mut heard = Diagnostics::new();
    for diagnostic in found.iter() {
        let is_aside = matches!(diagnostic.severity, Severity::Note | Severity::Warning);
        if !(quiet && is_aside) {
            heard.push(diagnostic.clone());
        }
    }
    if heard.is_empty() {
        return;
    }
    let text = match format {
        DiagnosticFormat::Text => render_text(&heard, file, color),
        DiagnosticFormat::Json => render_json(&heard, file),
    };
    print_error(host, &text);
}

/// Writes one diagnostic to standard error.
pub fn report_one(
    host: &mut dyn Host,
    found: Diagnostic,
    file: &SourceFile,
    format: DiagnosticFormat,
) {
    report(host, &found.into(), file, format);
}

/// Reads an input file; reports failures.
///
/// # Errors
///
/// Returns the exit code.
pub fn read_input(host: &mut dyn Host, path: &str, limit: u64) -> Result<Vec<u8>, u8> {
    if path == "-" && host.stdin_is_terminal() {
        note(host, "reading standard input; Ctrl-D ends it");
    }
    let bytes = match path {
        "-" => host.read_stdin(limit),
        path => host.read(Path::new(path), limit),
    };
    bytes.map_err(|error| unread(host, input_name(path), &error))
}

/// Reads the module at `path`, a file or a Core ML package; `-` is standard input.
///
/// # Errors
///
/// Returns the exit code after reporting that a file cannot be read, that the manifest of a package is invalid, or that
/// the format does not support `--bind`.
pub fn read_module(host: &mut dyn Host, path: &str, options: &LoadOptions) -> Result<Input, u8> {
    if path == "-" && host.stdin_is_terminal() {
        note(host, "reading standard input; Ctrl-D ends it");
    }
    let input = input::read(host, path, options, Access::Mapped).map_err(|error| match error {
        FileError::System { path, source } => {
            unread(host, input_name(&path.to_string_lossy()), &source)
        }
        FileError::Package { .. } => {
            print_error(host, &format!("error: {error}\n"));
            REJECTED
        }
        FileError::Foreign { path, what, help } => {
            report_foreign(host, &path.to_string_lossy(), what, &help)
        }
    })?;
    let is_bound = input.options.from.is_some_and(FormatInfo::reads_dims);
    if !input.options.bound.is_empty() && !is_bound {
        return Err(usage_error(
            host,
            "`--bind` is for ONNX models and StableHLO",
        ));
    }
    Ok(input)
}

/// Reports that the file at `path` is `what` and not a module; returns the exit code.
pub fn report_foreign(host: &mut dyn Host, path: &str, what: &str, help: &str) -> u8 {
    let name = input_name(path);
    let text = format!("error: {name}: this is {what}, not a module\n  = help: {help}\n");
    print_error(host, &text);
    REJECTED
}

/// Reports why the file called `name` cannot be read; returns the exit code.
pub fn unread(host: &mut dyn Host, name: &str, error: &std::io::Error) -> u8 {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a directory, not a module".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    print_error(host, &format!("error: {name}: {reason}\n"));
    REJECTED
}

/// Returns the name of the input file in diagnostics.
pub fn input_name(path: &str) -> &str {
    if path == "-" { "<stdin>" } else { path }
}

/// Writes the result to the named file, or to standard output if the name is missing or `-`.
pub fn write_output(host: &mut dyn Host, path: Option<&String>, text: &str) -> u8 {
    let Some(path) = path.filter(|path| *path != "-") else {
        print(host, text);
        return DONE;
    };
    match host.write(Path::new(path), text.as_bytes()) {
        Ok(()) => DONE,
        Err(error) => {
            print_error(host, &format!("error: {path}: {error}\n"));
            REJECTED
        }
    }
}

/// Returns the arguments for reading a module, for a tool that reads the formats selected by `is_read`.
pub fn input_args(is_read: fn(&FormatInfo) -> bool) -> Vec<Arg> {
    [
        Arg::new("FILE").help("the module; standard input if it is `-` or not given"),
        value(
            "from",
            "FORMAT",
            "the input's format; by default it is detected from the contents",
        )
        .value_parser(FormatInfo::words(is_read)),
        value(
            "profile",
            "PROFILE",
            "which ops, dtypes and dimensions the module may use",
        )
        .value_parser(["core-v1", "extended"])
        .default_value("extended"),
        flag(
            "no-input-limits",
            "lift the limits on size, nodes and strings, for input you trust",
        ),
        #[cfg(feature = "irv2")]
        flag(
            "keep-padding",
            "keep the zero padding of an IR v2 document's weights instead of stripping it",
        ),
        diagnostic_format_arg(),
    ]
    .into_iter()
    .chain(style::args())
    .collect()
}

/// Returns the arguments for reading a module of any format, including Core ML packages; see [`input_args`].
pub fn module_args() -> Vec<Arg> {
    let args = input_args(|row| {
        matches!(
            row.read,
            Some(
                Read::Module(_)
                    | Read::Document(_)
                    | Read::Import(_)
                    | Read::Package(_)
                    | Read::Binary(_)
            )
        )
    });
    let widened = |arg: Arg| match arg.get_id().as_str() {
        "FILE" => arg.help(
            "the module, a folder NAME.mlpackage for a Core ML package; standard input \
                 if it is `-` or not given",
        ),
        _ => arg,
    };
    args.into_iter().map(widened).collect()
}

/// Returns the argument for the format of diagnostics.
pub fn diagnostic_format_arg() -> Arg {
    value("diagnostic-format", "FORM", "the format of diagnostics")
        .value_parser(["text", "json"])
        .default_value("text")
}

/// Returns the reading options from the values of [`input_args`].
pub fn load_options(matches: &ArgMatches) -> LoadOptions {
    let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    LoadOptions {
        from: word("from").and_then(FormatInfo::named),
        limits: if matches.get_flag("no-input-limits") {
            Limits::none()
        } else {
            Limits::default()
        },
        profile: word("profile").and_then(Profile::parse).unwrap_or_default(),
        #[cfg(feature = "irv2")]
        padding: if matches.get_flag("keep-padding") {
            Padding::Kept
        } else {
            Padding::Stripped
        },
        dims: match matches.try_get_many::<(String, usize)>("dim") {
            Ok(given) => given.into_iter().flatten().cloned().collect(),
            // Tools without this option.
            Err(_) => Vec::new(),
        },
        shapes: Vec::new(),
        bound: Vec::new(),
        keeps_dequantized: false,
        data_files: Vec::new(),
    }
}

/// Returns a flag `--NAME SHOWN` with a value.
pub fn value(name: &'static str, shown: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(shown).help(help)
}

/// Returns a flag `--NAME` without a value.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// Parses a number of bytes, for example `512M`.
///
/// # Errors
///
/// Errors, in one line, if the text is not a size.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let unit = units
        .iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let bytes = digits
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a number of bytes, as in 512M".to_owned())
}

/// Quotes a text as one shell word.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=,:@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Parses a name and an extent, for example `B=32`.
///
/// # Errors
///
/// Errors, in one line, if the text has another form.
pub fn parse_dim(text: &str) -> Result<(String, usize), String> {
    let Some((name, extent)) = text.split_once('=') else {
        return Err("expected NAME=EXTENT, as in B=32".to_owned());
    };
    match extent.parse() {
        Ok(extent) => Ok((name.to_owned(), extent)),
        Err(_) => Err(format!("`{extent}` is not an extent")),
    }
}
