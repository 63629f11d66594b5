//! `mind-fmt`: modules and rule files in the canonical form of their format.

use std::path::Path;

use clap::{ArgMatches, Command};
use mind_cli::diff;
use mind_cli::{DONE, DiagnosticFormat, REJECTED, ToolInfo, flag};
use mind_diag::{Diagnostics, SourceFile};
use mind_driver::canonical::{Comments, canonical, format_rules};
use mind_driver::formats::{FormatInfo, LoadOptions, detect};
use mind_driver::host::Host;
use mind_driver::input::{FileError, check_own};
use mind_driver::load::{Loaded, decode, load_module};
use mind_driver::session::Session;

/// The tool.
pub const TOOL: ToolInfo = ToolInfo {
    name: "mind-fmt",
    run,
    command,
};

/// The command line of the tool.
pub fn command() -> Command {
    let inputs = mind_cli::input_args(|row| row.text().is_some())
        .into_iter()
        .map(|arg| match arg.get_id().as_str() {
            "FILE" => arg
                .num_args(1..)
                .help("the modules and `.rules` files; standard input, whose canonical form is printed, if none is given or for `-`"),
            _ => arg,
        });
    Command::new("mind-fmt")
        .about("Rewrites modules and rule files in the canonical form of their format, comments kept")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help("Exit status: 0 done, 1 a module was rejected, or with --check is not canonical, 2 usage.")
        .args(inputs)
        .arg(flag("check", "write nothing; print what would change, as a diff"))
        .arg(flag("drop-comments", "leave comments out, as canonical text has none"))
}

/// Runs the tool; see `--help`.
pub fn run(args: &[String], host: &mut dyn Host) -> u8 {
    let matches = match mind_cli::parse(command(), args, host) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    let session = Session::default();
    let stdin = "-".to_owned();
    let mut paths: Vec<&String> = matches.get_many("FILE").into_iter().flatten().collect();
    if paths.is_empty() {
        paths.push(&stdin);
    }
    let codes = paths
        .into_iter()
        .map(|path| match one(path, &matches, &session, host) {
            Ok(code) | Err(code) => code,
        });
    codes.max().unwrap_or(DONE)
}

/// Whether the file at `path` holds rewrite rules: by its name, or for standard input by its first word.
fn is_rule_file(path: &str, bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let by_name = Path::new(path)
        .extension()
        .is_some_and(|own| own == "rules");
    by_name || detect(text).is_none() && begins_with_a_rule(text)
}

/// Whether the first line that is neither blank nor a comment begins a rule or a fusion.
fn begins_with_a_rule(text: &str) -> bool {
    let lines = text.trim_start_matches('\u{feff}').lines();
    let mut code = lines.map(str::trim_start);
    let first = code.find(|line| !line.is_empty() && !line.starts_with('#'));
    let word = first.and_then(|line| line.split_whitespace().next());
    matches!(word, Some("rule" | "fusion"))
}

/// The file, and its canonical form.
///
/// # Errors
///
/// The exit code, after the reason has been reported.
fn formatted(
    path: &str,
    matches: &ArgMatches,
    session: &Session,
    host: &mut dyn Host,
) -> Result<(SourceFile, String), u8> {
    let options: LoadOptions = mind_cli::load_options(matches);
    let form = DiagnosticFormat::of(matches);
    let comments = if matches.get_flag("drop-comments") {
        Comments::Drop
    } else {
        Comments::Keep
    };
    let name = mind_cli::input_name(path);
    let is_text = |row: &FormatInfo| row.text().is_some() || row.sniff.is_some();
    let named = options.from.or_else(|| FormatInfo::of_path(path));
    if named.is_some_and(|row| !is_text(row)) {
        return Err(no_text(host, name));
    }
    let bytes = mind_cli::read_input(host, path, options.limits.bytes)?;
    if let Err(FileError::Foreign { what, help, .. }) = check_own(path, &bytes) {
        return Err(mind_cli::report_foreign(host, path, what, &help));
    }
    if FormatInfo::of_bytes(&bytes).is_some() {
        return Err(no_text(host, name));
    }
    let mut report = |found: &Diagnostics, file: &SourceFile| {
        mind_cli::report(host, found, file, form);
        REJECTED
    };
    if options.from.is_none() && is_rule_file(path, &bytes) {
        let text = decode(name, bytes.into(), &options.limits);
        let text = text.map_err(|why| report(&why.diagnostics, &why.file))?;
        let file = SourceFile::new(name, text);
        let text = format_rules(file.text(), comments);
        let text = text.map_err(|found| report(&found, &file))?;
        return Ok((file, text));
    }
    let loaded = load_module(&session.formats, name, bytes.into(), &options);
    let Loaded {
        file,
        format,
        graph,
        warnings,
    } = loaded.map_err(|why| report(&why.diagnostics, &why.file))?;
    let _ = report(&warnings, &file);
    let Some(format) = format.text() else {
        return Err(no_text(host, file.name()));
    };
    let text = canonical(&session.formats, format, file.text(), &graph, comments);
    let text = text.map_err(|found| report(&found, &file))?;
    Ok((file, text))
}

/// Reports that a file has no canonical text form; returns the exit code.
fn no_text(host: &mut dyn Host, name: &str) -> u8 {
    let why = "only texts of mic@1, mic@2, Core and MIL and rule files are formatted";
    mind_cli::print_error(host, &format!("error: {name}: {why}\n"));
    REJECTED
}

/// # Errors
///
/// The exit code, after the reason has been reported.
fn one(path: &str, matches: &ArgMatches, session: &Session, host: &mut dyn Host) -> Result<u8, u8> {
    let (file, text) = formatted(path, matches, session, host)?;
    if path == "-" && !matches.get_flag("check") {
        mind_cli::print(host, &text);
        return Ok(DONE);
    }
    if text == file.text() {
        return Ok(DONE);
    }
    if matches.get_flag("check") {
        mind_cli::print(
            host,
            &diff::unified(file.text(), &text, (file.name(), "canonical")),
        );
        return Ok(REJECTED);
    }
    match host.write(Path::new(path), text.as_bytes()) {
        Ok(()) => Ok(DONE),
        Err(error) => {
            mind_cli::print_error(host, &format!("error: {path}: {error}\n"));
            Err(REJECTED)
        }
    }
}
