//! Merging of chains of layout ops.

use mind_ir::OpId;
use mind_ir::attr::Attr;
use mind_ir::opdef::Op;
use mind_ir::types::Dim;
use mind_rewrite::{MatchFailure, Rewriter};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::reshape::Reshape;
use mind_tensor::ops::transpose::Transpose;

use super::query::{defined_by, is_open};
use crate::canonicalize::declare::patterns;

patterns! {
    /// A broadcast of a broadcast is one broadcast.
    BroadcastBroadcast = "tensor-broadcast-broadcast" on [Broadcast] => merge_broadcasts;

    /// A transpose of a transpose is one transpose with the composed permutation.
    TransposeTranspose = "tensor-transpose-transpose" on [Transpose] => compose_transposes;

    /// A reshape of a reshape is one reshape.
    ReshapeReshape = "tensor-reshape-reshape" on [Reshape] => merge_reshapes;
}

fn merge_broadcasts(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let outer = Broadcast::from_id(op);
    let &[middle] = outer.inputs(rw) else {
        return Err(MatchFailure("another operand gives extents"));
    };
    let inner = defined_by::<Broadcast>(rw, middle).ok_or(MatchFailure("no broadcast below"))?;
    let &[input] = inner.inputs(rw) else {
        return Err(MatchFailure("another operand gives extents below"));
    };
    if is_open(rw, middle) || is_open(rw, outer.result(rw)) {
        return Err(MatchFailure("an extent is not known"));
    }
    let dims = inner.dims(rw).iter().map(|&at| outer.dims(rw)[at as usize]);
    let dims: Vec<i64> = dims.collect();
    let shape = outer.shape(rw).to_vec();
    let attrs = Broadcast::attrs(&dims, &shape, &[]);
    rw.replace_with(op, Broadcast::DEF, &[input], &attrs)
}

fn compose_transposes(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let outer = Transpose::from_id(op);
    let inner =
        defined_by::<Transpose>(rw, outer.input(rw)).ok_or(MatchFailure("no transpose below"))?;
    let (input, below) = (inner.input(rw), inner.permutation(rw));
    let above = outer.permutation(rw).iter();
    let composed: Vec<i64> = above.map(|&axis| below[axis as usize]).collect();
    rw.replace_with(op, Transpose::DEF, &[input], &[Attr::Ints(&composed)])
}

fn merge_reshapes(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let outer = Reshape::from_id(op);
    let inner =
        defined_by::<Reshape>(rw, outer.input(rw)).ok_or(MatchFailure("no reshape below"))?;
    let (input, result) = (inner.input(rw), outer.result(rw));
    if is_open(rw, outer.input(rw)) || is_open(rw, result) {
        return Err(MatchFailure("an extent is not known"));
    }
    let shape: Vec<Dim> = rw.ty(result).shape.to_vec();
    rw.replace_with(op, Reshape::DEF, &[input], &Reshape::attrs(&shape, &[]))
}
