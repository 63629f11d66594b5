//! Replacement for `--check-rules` without the feature `egraph`: the option does not exist.

use clap::{Arg, ArgMatches};
use mind_driver::host::Host;
use mind_driver::session::Session;

pub(super) const HEADING: &str = "Checking rules";

/// Returns no arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// Returns `None`, because the argument does not exist.
pub(super) fn run(_: &ArgMatches, _: &Session, _: &mut dyn Host) -> Option<u8> {
    None
}
