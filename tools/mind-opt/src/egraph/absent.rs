//! What stands in the place of `--dump-egraph` where the feature `egraph` is off: the tool has no such option.

use clap::{Arg, ArgMatches};
use mind_pass::Drawing;

/// No arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// None, since there is no such argument.
pub(super) fn path(_: &ArgMatches) -> Option<&String> {
    None
}

/// None, since there is no such argument.
///
/// # Errors
///
/// None.
pub(super) fn drawing(_: &ArgMatches) -> Result<Option<Drawing>, String> {
    Ok(None)
}
