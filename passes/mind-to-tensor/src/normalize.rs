//! Lowers normalisation to a group of the ops that define it.

use mind_core::axes::resolve;
use mind_core::ops::elementwise::{Add, Div, Exp, Mul, Sqrt, Sub};
use mind_core::ops::normalize::{LayerNorm, Softmax, epsilon};
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::group::Group;
use mind_tensor::ops::reduce::Reduction;

use crate::broadcast::binary;
use crate::emit::{Lower, Lowered, map, reduce, unary};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Softmax::DEF, lower_softmax),
    (LayerNorm::DEF, lower_layernorm),
];

fn lower_softmax(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Softmax::from_id(op);
    let input = view.input(b.graph);
    let axis = resolve("softmax", view.axis(b.graph), b.graph.ty(input).rank())?;
    let axis = [axis as i64];
    grouped(op, b, "softmax", &[input], |b, arguments| {
        let x = arguments[0];
        let largest = reduce(b, Reduction::Max, x, &axis, true)?;
        let shifted = binary(b, Sub::DEF, x, largest)?;
        let powers = unary(b, Exp::DEF, shifted)?;
        let total = reduce(b, Reduction::Sum, powers, &axis, true)?;
        binary(b, Div::DEF, powers, total)
    })
}

fn lower_layernorm(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let input = LayerNorm::from_id(op).input(b.graph);
    let ty = b.graph.ty(input);
    let (axis, epsilon) = ([ty.rank() as i64 - 1], epsilon(ty.dtype));
    grouped(op, b, "layernorm", &[input], |b, arguments| {
        let x = arguments[0];
        let center = reduce(b, Reduction::Mean, x, &axis, true)?;
        let deviation = binary(b, Sub::DEF, x, center)?;
        let squares = binary(b, Mul::DEF, deviation, deviation)?;
        let variance = reduce(b, Reduction::Mean, squares, &axis, true)?;
        let scale = map(b, &[variance], |b, scalars| {
            let epsilon = mind_core::constant(b, &epsilon);
            let shifted = Add::build(b, scalars[0], epsilon)?;
            Sqrt::build(b, shifted)
        })?;
        binary(b, Div::DEF, deviation, scale)
    })
}

/// Emits `body` on `inputs`, as a new group unless `op` is already in a group.
pub(crate) fn grouped(
    op: OpId,
    b: &mut Builder<'_>,
    kind: &str,
    inputs: &[ValueId],
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Lowered,
) -> Lowered {
    let block = b.graph.parent(op);
    if block.is_some_and(|block| b.graph.block_owner(block).is_some()) {
        return body(b, inputs);
    }
    let attrs = Group::attrs(b.graph.intern(kind));
    let group = b.create_with_body(Group::DEF, inputs, &attrs, 1, |b, arguments| {
        Ok(vec![body(b, arguments)?])
    })?;
    Ok(b.graph.result(group))
}
