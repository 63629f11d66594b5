//! Replacement for `--dump-egraph` without the feature `egraph`: the option does not exist.

use clap::{Arg, ArgMatches};
use mind_pass::Drawing;

/// Returns no arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// Returns `None`, because the argument does not exist.
pub(super) fn path(_: &ArgMatches) -> Option<&String> {
    None
}

/// Returns `None`, because the argument does not exist.
///
/// # Errors
///
/// Never errors.
pub(super) fn drawing(_: &ArgMatches) -> Result<Option<Drawing>, String> {
    Ok(None)
}
