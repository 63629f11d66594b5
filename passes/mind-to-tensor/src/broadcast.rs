//! Explicit broadcasts.

use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::OpDef;
use mind_ir::types::{Dim, broadcast};
use mind_ir::verify::VerifyError;
use mind_tensor::ops::broadcast::Broadcast;

use crate::emit::{Lowered, map};

/// Emits `def` elementwise on `x` and on `y`, which broadcasts to the shape of `x`.
pub(crate) fn binary(b: &mut Builder<'_>, def: &'static OpDef, x: ValueId, y: ValueId) -> Lowered {
    let y = if x == y { y } else { broadcast_with(b, y, x)? };
    map(b, &[x, y], |b, scalars| b.one(def, scalars, &[]))
}

/// Emits `value`, broadcast to the common shape with `other`.
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

/// One of two operands that broadcast together.
pub(crate) struct BroadcastOperand<'a> {
    pub(crate) value: ValueId,
    /// For each dimension of `value`, its dimension of the result.
    pub(crate) dims: &'a [Option<usize>],
    pub(crate) other: ValueId,
    /// For each dimension of `other`, its dimension of the result.
    pub(crate) other_dims: &'a [Option<usize>],
    /// The common shape.
    pub(crate) shape: &'a [Dim],
}

/// Emits the operand, broadcast to the shape of the result. The other operand becomes the second input of the broadcast
/// if only a run can tell which of the two has extent 1.
pub(crate) fn broadcast_operand(b: &mut Builder<'_>, s: &BroadcastOperand<'_>) -> Lowered {
    let own = extents(b, s.value, s.dims, s.shape.len());
    let other = extents(b, s.other, s.other_dims, s.shape.len());
    // A dynamic extent is the value's own if the extent of the other is 1.
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

/// Returns the extent of `value` at each result dimension, 1 if it lacks the dimension.
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
