//! Sorts, which C can say though they have no kernel.

use mind_core::ops::sort::{Sort, TopK};
use mind_ir::graph::Graph;
use mind_loops::extents::known;
use mind_loops::ops::evaluate::Evaluate;
use mind_vir::program::Sorting;

/// The sort that `op` runs, if it does.
pub(super) fn sorting(g: &Graph, op: Evaluate) -> Option<Sorting> {
    let (inner, input) = (g.ops(op.body(g)).next()?, *op.inputs(g).first()?);
    let (axis, kept, is_descending) = match (g.view::<Sort>(inner), g.view::<TopK>(inner)) {
        (Some(sort), _) => (sort.axis(g), None, sort.descending(g)),
        (None, Some(top)) => (top.axis(g), Some(top.k(g) as usize), top.largest(g)),
        (None, None) => return None,
    };
    let shape = known(g, input);
    let axis = axis.rem_euclid(shape.len() as i64) as usize;
    let extents = [
        shape[..axis].iter().product(),
        shape[axis],
        shape[axis + 1..].iter().product(),
    ];
    Some(Sorting {
        dtype: g.ty(input).dtype,
        extents,
        kept: kept.unwrap_or(shape[axis]),
        is_descending,
    })
}
