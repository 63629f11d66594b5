//! Queries of values, for patterns.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::Dim;

/// Returns the op that defines the value, if it is a `T`.
pub(super) fn defined_by<T: Op>(g: &Graph, value: ValueId) -> Option<T> {
    g.view::<T>(g.defining_op(value)?)
}

/// Returns whether the value has an unnamed extent that is unknown at compile time.
pub(super) fn is_open(g: &Graph, value: ValueId) -> bool {
    g.ty(value).shape.contains(&Dim::Dynamic)
}
