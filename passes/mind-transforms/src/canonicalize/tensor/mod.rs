//! Patterns over the tensor dialect.
//!
//! All are exact: the same bits for every input, any NaN being equal to any NaN.

mod body;
mod layout;
mod map;
mod merge;

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::Dim;
use mind_rewrite::PatternSet;

use super::declare::patterns;

/// Adds the canonicalisation patterns of the tensor dialect.
pub(super) fn add(set: &mut PatternSet) {
    layout::add(set);
    map::add(set);
    merge::add(set);
}

fn defined_by<T: Op>(g: &Graph, value: ValueId) -> Option<T> {
    g.view::<T>(g.defining_op(value)?)
}

/// Whether some extent of the value is known in a run alone.
fn is_open(g: &Graph, value: ValueId) -> bool {
    g.ty(value).shape.contains(&Dim::Dynamic)
}
