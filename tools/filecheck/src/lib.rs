//! FileCheck: checks that a text contains the patterns of a check file's directives, in order.
//!
//! The results are those of LLVM 19's FileCheck. Where they differ, this implementation is stricter:
//!
//! - a directive with no text and no newline after it, or an invalid `--implicit-check-not`, is an error, exit 2;
//! - `-LABEL` may not define numeric variables either, exit 2;
//! - `--enable-var-scope` clears numeric variables at every label, not only at the first;
//! - a pattern whose parts are valid alone but not together fails, exit 1, even in a `-NOT`;
//! - in regular expressions, a named collating element (`[.hyphen.]`) and a reference to a group that `{0}` has removed
//!   are errors, exit 2;
//! - a flag can be repeated, but not combined with itself (`-vvv`), exit 1;
//! - nesting, the size of numbers and of regular expressions, and the time of a search are bounded.
//!
//! A match is always the leftmost. LLVM's matcher may miss it if an alternative that matches the empty string precedes
//! others, for example in `{{(x?|y)a}}`, for which it finds the `a` of `ya`.
//!
//! Text that FileCheck silently ignores is ignored here too; [`lint()`] lists it, for test suites that reject it.

mod bytes;
mod check;
mod check_file;
mod cursor;
mod defines;
mod directive;
mod ere;
mod lint;
mod numeric;
mod numeric_block;
mod options;
mod pattern;
mod pattern_syntax;
mod report;
mod source;
mod syntax_error;
mod variables;

pub use lint::{DirectiveLine, LintError, directives, lint};

use check_file::CheckFileError;
use options::{Command, Options};
use report::Report;
use source::Source;
use std::io::{self, Write};
use std::path::Path;
use variables::Variables;

/// One run of `filecheck`.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// The arguments, without the program name.
    pub args: &'a [String],
    /// The value of the variable `FILECHECK_OPTS`: arguments that precede `args`.
    pub env_opts: Option<&'a str>,
    /// The base of relative paths.
    pub cwd: &'a Path,
    /// The content of standard input.
    pub stdin: &'a [u8],
}

/// Runs `filecheck` and returns its exit code.
///
/// The exit code is 0 if the input passes, 1 if it does not or a flag is unknown, and 2 if the check file or a flag's
/// value is invalid, a file cannot be read or the input is empty. Messages go to `stderr`, help to `stdout`; write
/// errors do not change the exit code.
pub fn run(invocation: &Invocation, stdout: &mut dyn Write, stderr: &mut dyn Write) -> u8 {
    let (message, exit_code) = match options::parse(invocation.args, invocation.env_opts) {
        Ok(Command::Print(text)) => {
            let _ = stdout.write_all(text.as_bytes());
            return 0;
        }
        Ok(Command::Check(options)) => match check(invocation, &options) {
            Ok((passed, messages)) => (messages, u8::from(!passed)),
            Err(failure) => (failure.message, failure.exit_code),
        },
        Err(error) => (format!("filecheck: {}\n", error.message), error.exit_code),
    };
    let _ = stderr.write_all(message.as_bytes());
    exit_code
}

/// Returns whether a run with these arguments reads standard input.
pub fn reads_stdin(args: &[String], env_opts: Option<&str>) -> bool {
    match options::parse(args, env_opts) {
        Ok(Command::Check(options)) => options.check_file == "-" || options.input_file == "-",
        Ok(Command::Print(_)) | Err(_) => false,
    }
}

/// A run that ends without a verdict.
struct Failure {
    message: String,
    exit_code: u8,
}

impl Failure {
    fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into() + "\n",
            exit_code: 2,
        }
    }
}

impl From<CheckFileError> for Failure {
    fn from(error: CheckFileError) -> Failure {
        let mut message = error.message + "\n";
        if let Some((line, column)) = error.line {
            let (text, caret) = report::excerpt(&line, column);
            message += &format!("  {text}\n  {}^\n", " ".repeat(caret));
        }
        Failure {
            message,
            exit_code: error.exit_code,
        }
    }
}

fn check(invocation: &Invocation, options: &Options) -> Result<(bool, String), Failure> {
    let strict_whitespace = options.matching.strict_whitespace;
    let mut stdin = Some(invocation.stdin);
    let check_file =
        read_file(&options.check_file, invocation.cwd, &mut stdin).map_err(|error| {
            Failure::new(format!(
                "could not open check file '{}': {error}",
                options.check_file
            ))
        })?;
    let check_file = Source::new(
        display_name(&options.check_file),
        &check_file,
        strict_whitespace,
    );

    let mut variables = Variables::default();
    let errors = defines::define_all(&options.defines, &mut variables);
    if !errors.is_empty() {
        return Err(Failure::new(errors.join("\n")));
    }
    let steps = check_file::read(&check_file, options, &mut variables)?;

    let input = read_file(&options.input_file, invocation.cwd, &mut stdin).map_err(|error| {
        Failure::new(format!(
            "could not open input file '{}': {error}",
            options.input_file
        ))
    })?;
    let name = display_name(&options.input_file);
    if input.is_empty() && !options.allow_empty {
        return Err(Failure::new(format!("error: '{name}' is empty")));
    }
    let input = Source::new(name, &input, strict_whitespace);

    let mut report = Report::new(&check_file, &input, options);
    let mut observer =
        |pattern: &_, outcome: &_, variables: &_| report.add(pattern, outcome, variables);
    let passed = check::check(&steps, &input.text, options, &mut variables, &mut observer);
    let mut messages = report.finish(passed);
    if !passed {
        messages += &format!("rerun: filecheck {}\n", command_line(invocation.args));
    }
    Ok((passed, messages))
}

fn display_name(file: &str) -> &str {
    if file == "-" { "<stdin>" } else { file }
}

/// Reads a file. Standard input can be read only once; then it is empty.
fn read_file(file: &str, cwd: &Path, stdin: &mut Option<&[u8]>) -> io::Result<Vec<u8>> {
    match file {
        "-" => Ok(stdin.take().unwrap_or_default().to_vec()),
        _ => std::fs::read(cwd.join(file)),
    }
}

/// Returns `args` quoted for a shell.
fn command_line(args: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./,:%+@".contains(c);
    let quoted = args.iter().map(|arg| {
        if !arg.is_empty() && arg.chars().all(is_plain) {
            arg.clone()
        } else {
            format!("'{}'", arg.replace('\'', "'\\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
