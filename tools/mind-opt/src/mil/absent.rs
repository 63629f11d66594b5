//! What stands in the place of MIL where the feature `mil` is off: the tool has no options and no passes for it.

use clap::{Arg, ArgMatches};
use mind_diag::{Diagnostic, Diagnostics};
use mind_driver::host::FileSystem;
use mind_ir::Graph;
use mind_pass::Pipeline;

/// No arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// Never, since there is no such argument.
pub(super) fn is_report(_: &ArgMatches) -> bool {
    false
}

/// Accepts every name, since there is no report.
///
/// # Errors
///
/// None.
pub(super) fn check_report_name(_: &ArgMatches, _: &str) -> Result<(), String> {
    Ok(())
}

/// Never, since there is no such pass.
pub(super) fn is_lowered_to(_: &Pipeline) -> bool {
    false
}

/// Reads nothing, since no pass computes with weights of files.
///
/// # Errors
///
/// None.
pub(super) fn read_weights(
    _: &Pipeline,
    _: &mut Graph,
    _: &str,
    _: &mut dyn FileSystem,
) -> Result<(), Diagnostics> {
    Ok(())
}

/// No report.
pub(super) fn report(_: &ArgMatches, _: &Graph) -> Option<Result<String, Diagnostic>> {
    None
}
