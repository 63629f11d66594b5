//! Replacement for the MIL options and passes without the feature `mil`: none of them exist.

use clap::{Arg, ArgMatches};
use mind_diag::{Diagnostic, Diagnostics};
use mind_driver::host::FileSystem;
use mind_ir::Graph;
use mind_pass::Pipeline;

/// Returns no arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// Returns false, because the argument does not exist.
pub(super) fn is_report(_: &ArgMatches) -> bool {
    false
}

/// Accepts every name, because no report is written.
///
/// # Errors
///
/// Never errors.
pub(super) fn check_report_name(_: &ArgMatches, _: &str) -> Result<(), String> {
    Ok(())
}

/// Returns false, because the pass does not exist.
pub(super) fn is_lowered_to(_: &Pipeline) -> bool {
    false
}

/// Reads nothing, because no pass uses weight files.
///
/// # Errors
///
/// Never errors.
pub(super) fn read_weights(
    _: &Pipeline,
    _: &mut Graph,
    _: &str,
    _: &mut dyn FileSystem,
) -> Result<(), Diagnostics> {
    Ok(())
}

/// Returns no report.
pub(super) fn report(_: &ArgMatches, _: &Graph) -> Option<Result<String, Diagnostic>> {
    None
}
