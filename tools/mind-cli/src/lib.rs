//! What the tools share: arguments, reading, reporting.

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

/// A tool: what its binary runs, and what its documents say.
#[derive(Clone, Copy, Debug)]
pub struct ToolInfo {
    /// The name of the binary.
    pub name: &'static str,
    /// The entry point.
    pub run: Tool,
    /// The command line.
    pub command: fn() -> Command,
}

/// Done.
pub const DONE: u8 = 0;
/// The input was rejected.
pub const REJECTED: u8 = 1;
/// The command line was not understood.
pub const USAGE: u8 = 2;

/// The matches of a command line.
///
/// # Errors
///
/// The exit code, after help or a usage error has been printed.
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

/// Writes to standard output. A closed pipe is the reader's choice, not an error.
///
/// On a terminal the text ends with a line end, so that what follows begins on a line of its own.
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

/// Writes to standard error, which has nowhere to report its own failures to.
pub fn print_error(host: &mut dyn Host, text: &str) {
    let _ = host.stderr().write_all(text.as_bytes());
}

/// Writes a note to standard error, unless the tool is quiet.
pub fn note(host: &mut dyn Host, text: &str) {
    if !host.style().quiet {
        print_error(host, &format!("note: {text}\n"));
    }
}

/// Writes why there is no result.
pub fn fail(host: &mut dyn Host, why: &dyn std::fmt::Display) {
    print_error(host, &format!("error: {why}\n"));
}

/// A usage error in one line, and its exit code.
pub fn usage_error(host: &mut dyn Host, message: &str) -> u8 {
    print_error(host, &format!("error: {message}\n"));
    USAGE
}

/// How diagnostics are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticFormat {
    /// With the source line under them.
    Text,
    /// One object a line.
    Json,
}

impl DiagnosticFormat {
    /// What [`diagnostic_format_arg`] was given.
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

/// The bytes of the input file; a failure is printed.
///
/// # Errors
///
/// The exit code.
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
/// The exit code, after the failure was printed: a file that cannot be read, a package whose manifest or model cannot
/// be, constants for the inputs of a module that has none.
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

/// Reports that the file at `path` is `what`, not a module, and returns the exit code.
pub fn report_foreign(host: &mut dyn Host, path: &str, what: &str, help: &str) -> u8 {
    let name = input_name(path);
    let text = format!("error: {name}: this is {what}, not a module\n  = help: {help}\n");
    print_error(host, &text);
    REJECTED
}

/// Reports why the file called `name` cannot be read, and returns the exit code.
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

/// What diagnostics call the input file.
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

/// The arguments that say how a module is read, for a tool that reads the formats that `is_read`.
pub fn input_args(is_read: fn(&FormatInfo) -> bool) -> Vec<Arg> {
    [
        Arg::new("FILE").help("the module; standard input if it is `-` or not given"),
        value(
            "from",
            "FORMAT",
            "the input's format, instead of telling it from the content",
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
            "compute with the padding of an IR v2 document's weights, which holds \
                 zeros, instead of cutting it off",
        ),
        diagnostic_format_arg(),
    ]
    .into_iter()
    .chain(style::args())
    .collect()
}

/// The arguments of a tool that reads texts and Core ML packages; see [`input_args`].
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

/// The argument that says how diagnostics are shown.
pub fn diagnostic_format_arg() -> Arg {
    value("diagnostic-format", "FORM", "how errors are shown")
        .value_parser(["text", "json"])
        .default_value("text")
}

/// The reading options that [`input_args`] were given.
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
            // The tool has no such option.
            Err(_) => Vec::new(),
        },
        shapes: Vec::new(),
        bound: Vec::new(),
        keeps_dequantized: false,
        beside: Vec::new(),
    }
}

/// A flag `--NAME SHOWN`, whose value is a word.
pub fn value(name: &'static str, shown: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(shown).help(help)
}

/// A flag `--NAME` without a value.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// The number of bytes in `512M`.
///
/// # Errors
///
/// What is no size, in one line.
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

/// A text as one word of the shell's language.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=,:@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The name and the extent in `B=32`.
///
/// # Errors
///
/// What is no such pair, in one line.
pub fn parse_dim(text: &str) -> Result<(String, usize), String> {
    let Some((name, extent)) = text.split_once('=') else {
        return Err("expected NAME=EXTENT, as in B=32".to_owned());
    };
    match extent.parse() {
        Ok(extent) => Ok((name.to_owned(), extent)),
        Err(_) => Err(format!("`{extent}` is not an extent")),
    }
}
