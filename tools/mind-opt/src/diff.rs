//! Implements `--diff`, the structural diff of two modules.

use clap::ArgMatches;
use mind_cli::{DONE, DiagnosticFormat, REJECTED, USAGE, output};
use mind_driver::graph_diff::difference;
use mind_driver::host::Host;
use mind_driver::load::{Loaded, load_module};
use mind_driver::session::Session;
use mind_pass::Pipeline;

/// Compares the module of `--diff` with the input; returns `None` if the option is absent.
///
/// The exit code follows `diff`: 0 if the modules are equal, 1 if they differ, 2 if a module was rejected.
pub(super) fn run(
    matches: &ArgMatches,
    pipeline: &Pipeline,
    session: &Session,
    host: &mut dyn Host,
) -> Option<u8> {
    let before = matches.get_one::<String>("diff")?;
    if !pipeline.steps.is_empty() {
        return Some(mind_cli::usage_error(
            host,
            "`--diff` cannot be combined with passes",
        ));
    }
    let named = output::file(matches).map(|path| output::check_not_module(path, "a difference"));
    if let Some(Err(message)) = named {
        return Some(mind_cli::usage_error(host, &message));
    }
    let after = matches
        .get_one::<String>("FILE")
        .map_or("-", String::as_str);
    let compared = load(before, matches, session, host)
        .and_then(|a| Ok((a, load(after, matches, session, host)?)));
    Some(match compared {
        Err(()) => USAGE,
        Ok((a, b)) => {
            let difference = difference(&session.formats, &a.graph, &b.graph);
            let text = difference.text(mind_cli::input_name(before), mind_cli::input_name(after));
            match mind_cli::write_output(host, output::file(matches), &text) {
                DONE if difference.is_empty() => DONE,
                DONE => REJECTED,
                _ => USAGE,
            }
        }
    })
}

/// Loads a module.
///
/// # Errors
///
/// Errors after reporting why the module was rejected.
fn load(
    path: &str,
    matches: &ArgMatches,
    session: &Session,
    host: &mut dyn Host,
) -> Result<Loaded, ()> {
    let options = mind_cli::load_options(matches);
    let given = mind_cli::read_module(host, path, &options).map_err(|_| ())?;
    let name = mind_cli::input_name(path);
    let loaded = load_module(&session.formats, name, given.bytes, &given.options);
    let form = DiagnosticFormat::of(matches);
    let loaded = loaded.map_err(|rejected| {
        mind_cli::report(host, &rejected.diagnostics, &rejected.file, form);
    })?;
    mind_cli::report(host, &loaded.warnings, &loaded.file, form);
    Ok(loaded)
}
