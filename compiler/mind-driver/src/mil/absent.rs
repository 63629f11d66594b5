//! What stands in the place of MIL where the feature `mil` is off: no module is a program of it.

use mind_diag::Diagnostics;
use mind_ir::Graph;
use mind_pass::Pipeline;

use crate::formats::FormatInfo;

/// Nothing, because no pass imports programs of MIL.
pub fn left_out(_: &Pipeline, _: &Graph) -> Diagnostics {
    Diagnostics::new()
}

/// Nothing, since no format is a spelling of MIL.
pub(crate) fn warnings(_: &FormatInfo, _: &Graph) -> Diagnostics {
    Diagnostics::new()
}

/// Nothing, since no module is a program of MIL.
pub(crate) fn check(_: &Graph) -> Diagnostics {
    Diagnostics::new()
}
