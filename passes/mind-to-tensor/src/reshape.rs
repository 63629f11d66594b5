//! Lowers ops that only rearrange or rename dimensions.

use mind_core::ops::broadcast::{BroadcastTo, written_shape};
use mind_core::ops::shape::{ExpandDims, Reshape, Squeeze, Transpose, effective_permutation};
use mind_ir::OpId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::{Dim, Shape};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::reshape::Reshape as TensorReshape;
use mind_tensor::ops::transpose::Transpose as TensorTranspose;

use crate::emit::{Lower, Lowered, can_replace, reshape, shape};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Reshape::DEF, lower_reshape),
    (Transpose::DEF, lower_transpose),
    (ExpandDims::DEF, lower_expand_dims),
    (Squeeze::DEF, lower_squeeze),
    (BroadcastTo::DEF, lower_broadcast_to),
];

fn lower_reshape(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Reshape::from_id(op);
    let input = view.input(b.graph);
    if can_replace(b, input, op) {
        return Ok(input);
    }
    let target = view.new_shape(b.graph).iter().map(|&dim| match dim {
        Dim::Fixed(-1) => Dim::Dynamic,
        dim => dim,
    });
    let shape = target.collect::<Shape>();
    TensorReshape::with(&shape).build(b, input)
}

fn lower_transpose(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Transpose::from_id(op);
    let input = view.input(b.graph);
    let rank = b.graph.ty(input).rank();
    let permutation = effective_permutation(view.permutation(b.graph), rank);
    if permutation.is_sorted() && can_replace(b, input, op) {
        return Ok(input);
    }
    TensorTranspose::with(&permutation).build(b, input)
}

fn lower_expand_dims(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = ExpandDims::from_id(op);
    let (input, axes) = (view.input(b.graph), view.axes(b.graph).to_vec());
    if can_replace(b, input, op) {
        return Ok(input);
    }
    let extents = shape(b, input);
    let mut kept = 0..extents.len();
    let (mut target, mut carry) = (Shape::new(), Vec::new());
    for at in 0..extents.len() + axes.len() {
        let source = if axes.contains(&(at as i64)) {
            None
        } else {
            kept.next()
        };
        target.push(source.map_or(Dim::Fixed(1), |axis| extents[axis]));
        carry.push(source.map_or(-1, |axis| axis as i64));
    }
    reshape(b, input, &target, &carry)
}

fn lower_squeeze(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Squeeze::from_id(op);
    let (input, axes) = (view.input(b.graph), view.axes(b.graph).to_vec());
    if can_replace(b, input, op) {
        return Ok(input);
    }
    let extents = shape(b, input);
    let kept = (0..extents.len() as i64).filter(|axis| !axes.contains(axis));
    let carry: Vec<i64> = kept.collect();
    let target: Shape = carry.iter().map(|&axis| extents[axis as usize]).collect();
    reshape(b, input, &target, &carry)
}

fn lower_broadcast_to(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = BroadcastTo::from_id(op);
    let (input, target) = (view.input(b.graph), written_shape(view, b.graph));
    if can_replace(b, input, op) {
        return Ok(input);
    }
    let new = target.len() - b.graph.ty(input).rank();
    let dims: Vec<i64> = (new as i64..target.len() as i64).collect();
    Broadcast::with(&dims, &target).build(b, &[input])
}
