//! Stand-in for running libraries, on processors and systems that cannot run them.

use mind_ir::Graph;
use mind_vir::object::Container;

/// Whether libraries are run.
pub(super) const RUNS: bool = false;

/// Does nothing.
///
/// # Errors
///
/// None.
pub(super) fn check(_: &Graph, _: Container, _: &[u8], _: u64) -> Result<(), String> {
    Ok(())
}
