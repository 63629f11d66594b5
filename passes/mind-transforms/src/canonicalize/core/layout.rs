//! Chains of ops that move elements without computing.

use mind_core::ops::index::Slice;
use mind_core::ops::shape::{ExpandDims, Reshape, Squeeze, Transpose, effective_permutation};
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_rewrite::{Miss, Rewriter};

use super::patterns;

patterns! {
    /// A transpose of a transpose is one transpose by the composed permutation.
    TransposeTranspose = "transpose-transpose" on [Transpose] => compose_transposes;

    /// A transpose that only moves extents of 1 is a reshape.
    TransposeUnit = "transpose-unit-axes" on [Transpose] => transpose_to_reshape;

    /// A reshape, squeeze or expand_dims of another one is one reshape.
    ReshapeReshape = "reshape-reshape" on [Reshape, ExpandDims, Squeeze] => merge_reshapes;

    /// A slice that takes everything is its operand.
    SliceAll = "slice-all" on [Slice] => drop_full_slice;

    /// A slice of a slice is one slice.
    SliceSlice = "slice-slice" on [Slice] => merge_slices;
}

fn compose_transposes(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let outer = Transpose::from_id(op);
    let inner = defined_by::<Transpose>(rw, outer.input(rw)).ok_or(Miss("no transpose below"))?;
    let input = inner.input(rw);
    let rank = rw.ty(input).rank();
    let below = effective_permutation(inner.permutation(rw), rank);
    let above = effective_permutation(outer.permutation(rw), rank);
    let composed: Vec<i64> = above.iter().map(|&axis| below[axis as usize]).collect();
    rw.replace_with(op, Transpose::DEF, &[input], &[Attr::Ints(&composed)])
}

fn transpose_to_reshape(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let transpose = Transpose::from_id(op);
    let input = transpose.input(rw);
    let shape = rw.ty(input).shape;
    let permutation = effective_permutation(transpose.permutation(rw), shape.len());
    let moved = permutation
        .iter()
        .filter(|&&axis| shape[axis as usize] != Dim::Fixed(1));
    if !moved.is_sorted() {
        return Err(Miss("axes of extent above 1 change their order"));
    }
    reshape_to_result(op, input, rw)
}

fn merge_reshapes(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let below = rw.defining_op(rw.operands(op)[0]).filter(|&below| {
        rw.is::<Reshape>(below) || rw.is::<ExpandDims>(below) || rw.is::<Squeeze>(below)
    });
    let below = below.ok_or(Miss("no reshape below"))?;
    let input = rw.operands(below)[0];
    reshape_to_result(op, input, rw)
}

/// Replaces `op` by a reshape of `input` to the type that `op` has.
fn reshape_to_result(op: OpId, input: ValueId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let shape = rw.ty(rw.result(op)).shape;
    let may_be_empty = |dim: &Dim| matches!(dim, Dim::Symbol(_) | Dim::Fixed(..=0));
    if !rw.is::<Reshape>(op) && shape.contains(&Dim::Dynamic) && shape.iter().any(may_be_empty) {
        return Err(Miss(
            "a reshape cannot tell an open extent where no element is left",
        ));
    }
    let target = rw.ty(rw.result(op)).shape.iter().map(|&dim| match dim {
        Dim::Dynamic => Dim::Fixed(-1),
        known => known,
    });
    let target: Vec<Dim> = target.collect();
    rw.replace_with(op, Reshape::DEF, &[input], &[Attr::Dims(&target)])
}

fn drop_full_slice(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let slice = Slice::from_id(op);
    let whole = slice.starts(rw).iter().all(|&start| start == 0)
        && slice.steps(rw).iter().all(|&step| step == 1);
    let input = slice.input(rw);
    if !whole || rw.ty(input).shape.contains(&Dim::Dynamic) {
        return Err(Miss("the slice leaves something out"));
    }
    rw.replace(op, input)
}

fn merge_slices(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let outer = Slice::from_id(op);
    let inner = defined_by::<Slice>(rw, outer.input(rw)).ok_or(Miss("no slice below"))?;
    let input = inner.input(rw);
    let extents = rw
        .ty(rw.result(op))
        .static_shape()
        .ok_or(Miss("an extent is not known"))?;
    if extents.contains(&0) {
        return Err(Miss("the slice is empty"));
    }
    let (mut starts, mut ends, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, extent) in extents.into_iter().enumerate() {
        let (below, above) = (bounds(rw, inner, axis), bounds(rw, outer, axis));
        let offset = above
            .0
            .checked_mul(below.1)
            .and_then(|offset| offset.checked_add(below.0));
        let step = above.1.checked_mul(below.1);
        let (start, step) = offset.zip(step).ok_or(Miss("the bounds overflow"))?;
        let last = step
            .checked_mul(extent - 1)
            .and_then(|reach| reach.checked_add(start + 1));
        starts.push(start);
        ends.push(last.ok_or(Miss("the bounds overflow"))?);
        steps.push(step);
    }
    let attrs = Slice::attrs(&starts, &ends, &steps);
    rw.replace_with(op, Slice::DEF, &[input], &attrs)
}

/// Start and step along an axis.
fn bounds(g: &Graph, slice: Slice, axis: usize) -> (i64, i64) {
    (slice.starts(g)[axis], slice.steps(g)[axis])
}

fn defined_by<T: Op>(g: &Graph, value: ValueId) -> Option<T> {
    g.view::<T>(g.defining_op(value)?)
}
