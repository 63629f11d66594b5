//! Replacement for MIL without the feature `mil`: no module is a MIL program.

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_pass::Pipeline;

use crate::formats::FormatInfo;

/// Returns no notes, because no pass imports MIL programs.
pub fn left_out(_: &Pipeline, _: &Graph) -> Diagnostics {
    Diagnostics::new()
}

/// Returns no warnings, because no format is a spelling of MIL.
pub(crate) fn warnings(_: &FormatInfo, _: &Graph) -> Diagnostics {
    Diagnostics::new()
}

/// Returns no errors, because no module is a MIL program.
pub(crate) fn check(_: &Graph) -> Diagnostics {
    Diagnostics::new()
}
