//! Sorts and top-k selections.

use mind_core::ops::sort::{Sort, TopK};
use mind_loops::extents::known;
use mind_vir::program::{Algorithm, Sorting};

use super::{Call, count};

/// Returns the sort that `call` evaluates; `None` if it evaluates another op.
pub(super) fn sorting(call: Call<'_>) -> Option<Algorithm> {
    let (g, input) = (call.g, *call.op.inputs(call.g).first()?);
    let (axis, kept, is_descending) = match (g.view::<Sort>(call.inner), g.view::<TopK>(call.inner))
    {
        (Some(sort), _) => (sort.axis(g), None, sort.descending(g)),
        (None, Some(top)) => (top.axis(g), Some(top.k(g) as usize), top.largest(g)),
        (None, None) => return None,
    };
    let shape = known(g, input);
    let axis = axis.rem_euclid(shape.len() as i64) as usize;
    let extents = [
        count(&shape[..axis]),
        shape[axis],
        count(&shape[axis + 1..]),
    ];
    Some(Algorithm::Sort(Sorting {
        dtype: g.ty(input).dtype,
        extents,
        kept: kept.unwrap_or(shape[axis]),
        is_descending,
    }))
}
