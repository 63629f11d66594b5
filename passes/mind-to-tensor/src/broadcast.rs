//! Broadcasts, written out.

use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::OpDef;
use mind_ir::types::{Dim, broadcast};
use mind_ir::verify::VerifyError;
use mind_tensor::ops::broadcast::Broadcast;

use crate::emit::{Lowered, map};

/// `def` at every position of `x` and of `y`, which broadcasts to the shape of `x`.
pub(crate) fn binary(b: &mut Builder<'_>, def: &'static OpDef, x: ValueId, y: ValueId) -> Lowered {
    let y = if x == y { y } else { broadcast_with(b, y, x)? };
    map(b, &[x, y], |b, scalars| b.one(def, scalars, &[]))
}

/// `value` in the shape that it and `other` broadcast to.
pub(crate) fn broadcast_with(b: &mut Builder<'_>, value: ValueId, other: ValueId) -> Lowered {
    let (own, others) = (b.graph.ty(value).shape, b.graph.ty(other).shape);
    let target = broadcast(own, others)
        .map_err(|clash| VerifyError::broadcast(b.graph, own, others, clash))?;
    let aligned = |rank: usize| -> Vec<Option<usize>> {
        (target.len() - rank..target.len()).map(Some).collect()
    };
    let (dims, other_dims) = (aligned(own.len()), aligned(others.len()));
    let operand = BroadcastOperand {
        value,
        dims: &dims,
        other,
        other_dims: &other_dims,
        shape: &target,
    };
    broadcast_operand(b, &operand)
}

/// One of two values that broadcast together.
pub(crate) struct BroadcastOperand<'a> {
    pub(crate) value: ValueId,
    /// The result dimension that each of its dimensions becomes.
    pub(crate) dims: &'a [Option<usize>],
    pub(crate) other: ValueId,
    /// The result dimension where each dimension of `other` counts.
    pub(crate) other_dims: &'a [Option<usize>],
    /// What the two broadcast to.
    pub(crate) shape: &'a [Dim],
}

/// The value in the shape of the result. The other value stands beside it where only a run can tell which
/// of the two stretches.
pub(crate) fn broadcast_operand(b: &mut Builder<'_>, s: &BroadcastOperand<'_>) -> Lowered {
    let own = extents(b, s.value, s.dims, s.shape.len());
    let other = extents(b, s.other, s.other_dims, s.shape.len());
    // An extent that is not known is the value's own where the other cannot stretch it.
    let own_extent = |at: usize| own[at] == Dim::Dynamic && other[at] == Dim::Fixed(1);
    let kept = |at: usize| match s.shape[at] {
        Dim::Dynamic => own_extent(at),
        known => own[at] == known,
    };
    let in_order = s.dims.iter().copied().eq((0..s.shape.len()).map(Some));
    let alone = s.value == s.other && s.dims == s.other_dims;
    if in_order && (alone || (0..s.shape.len()).all(kept)) {
        return Ok(s.value);
    }
    let open = (0..s.shape.len()).any(|at| s.shape[at] == Dim::Dynamic && !own_extent(at));
    let (dims, like) = (axes(s.dims), axes(s.other_dims));
    let broadcast = Broadcast::with(&dims, s.shape);
    if open {
        broadcast.like(&like).build(b, &[s.value, s.other])
    } else {
        broadcast.build(b, &[s.value])
    }
}

/// The extent of `value` at each result dimension: 1 where it has none.
fn extents(b: &Builder<'_>, value: ValueId, dims: &[Option<usize>], rank: usize) -> Vec<Dim> {
    let mut extents = vec![Dim::Fixed(1); rank];
    for (&dim, &at) in b.graph.ty(value).shape.iter().zip(dims) {
        if let Some(at) = at {
            extents[at] = dim;
        }
    }
    extents
}

fn axes(dims: &[Option<usize>]) -> Vec<i64> {
    dims.iter()
        .map(|at| at.map_or(-1, |at| at as i64))
        .collect()
}
