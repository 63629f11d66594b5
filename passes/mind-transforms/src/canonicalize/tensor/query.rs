//! What patterns ask of values.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::Dim;

/// The op that defines the value, if it is a `T`.
pub(super) fn defined_by<T: Op>(g: &Graph, value: ValueId) -> Option<T> {
    g.view::<T>(g.defining_op(value)?)
}

/// Whether some extent of the value is known in a run alone.
pub(super) fn is_open(g: &Graph, value: ValueId) -> bool {
    g.ty(value).shape.contains(&Dim::Dynamic)
}
