//! `--diff`: how two modules differ as graphs.

use clap::ArgMatches;
use mind_pass::Pipeline;

use crate::host::Host;
use crate::load::{Loaded, load_module};
use crate::session::Session;
use crate::structure::difference;
use crate::tools::cli::{self, DONE, DiagnosticFormat, REJECTED, USAGE};

/// Compares the module that `--diff` names with the one that stands behind; `None` if nobody asks for it.
///
/// Gives the exit code of a diff tool: 0 for no difference, 1 for some, 2 for a module that was rejected.
pub(super) fn run(
    matches: &ArgMatches,
    pipeline: &Pipeline,
    session: &Session,
    host: &mut dyn Host,
) -> Option<u8> {
    let before = matches.get_one::<String>("diff")?;
    if !pipeline.steps.is_empty() {
        return Some(cli::usage_error(
            host,
            "`--diff` compares modules as they are; it runs no passes",
        ));
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
            cli::print(
                host,
                &difference.text(cli::input_name(before), cli::input_name(after)),
            );
            if difference.is_empty() {
                DONE
            } else {
                REJECTED
            }
        }
    })
}

/// # Errors
///
/// A rejected module, which was reported.
fn load(
    path: &str,
    matches: &ArgMatches,
    session: &Session,
    host: &mut dyn Host,
) -> Result<Loaded, ()> {
    let options = cli::load_options(matches);
    let bytes = cli::read_input(host, path, options.limits.bytes).map_err(|_| ())?;
    let loaded = load_module(&session.formats, cli::input_name(path), bytes, &options);
    let form = DiagnosticFormat::of(matches);
    let loaded = loaded.map_err(|rejected| {
        cli::report(host, &rejected.diagnostics, &rejected.file, form);
    })?;
    cli::report(host, &loaded.warnings, &loaded.file, form);
    Ok(loaded)
}
