//! What stands in the place of `--check-rules` where the feature `egraph` is off: the tool has no such option.

use clap::{Arg, ArgMatches};
use mind_driver::host::Host;
use mind_driver::session::Session;

pub(super) const HEADING: &str = "Checking rules";

/// No arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// Never, since there is no such argument.
pub(super) fn run(_: &ArgMatches, _: &Session, _: &mut dyn Host) -> Option<u8> {
    None
}
