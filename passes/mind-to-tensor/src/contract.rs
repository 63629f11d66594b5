//! Lowers matrix products and `conv2d`.

use mind_core::ops::contract::{Dot, MatMul};
use mind_core::ops::conv::Conv2d;
use mind_ir::OpId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::{Dim, Shape, broadcast};
use mind_ir::verify::VerifyError;
use mind_ir::{ValueId, attr::Padding};
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::window::Window;

use crate::broadcast::{BroadcastOperand, broadcast_operand};
use crate::emit::{Lower, Lowered, shape};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Dot::DEF, lower_dot),
    (MatMul::DEF, lower_matmul),
    (Conv2d::DEF, lower_conv2d),
];

/// Lowers `dot`.
fn lower_dot(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let dot = Dot::from_id(op);
    contract_inner(b, dot.lhs(b.graph), dot.rhs(b.graph))
}

/// Emits a contraction of the last dimension of `lhs` with the first of `rhs`.
fn contract_inner(b: &mut Builder<'_>, lhs: ValueId, rhs: ValueId) -> Lowered {
    let last = [b.graph.ty(lhs).rank() as i64 - 1];
    Contract::with(&last, &[0]).build(b, lhs, rhs)
}

/// Lowers `matmul`. A single right matrix multiplies the rows of the whole batch, and otherwise the batches of both
/// sides are paired.
fn lower_matmul(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let matmul = MatMul::from_id(op);
    let (lhs, rhs) = (matmul.lhs(b.graph), matmul.rhs(b.graph));
    if b.graph.ty(rhs).rank() == 2 {
        return contract_inner(b, lhs, rhs);
    }
    let (left, right) = (shape(b, lhs), shape(b, rhs));
    let (left_batch, left_matrix) = left.split_at(left.len() - 2);
    let (right_batch, right_matrix) = right.split_at(right.len() - 2);
    let batch = broadcast(left_batch, right_batch).map_err(|clash| {
        Box::new(VerifyError::broadcast(
            b.graph,
            left_batch,
            right_batch,
            clash,
        ))
    })?;
    let lhs_stack = stack(b, [lhs, rhs], &batch, left_matrix)?;
    let rhs_stack = stack(b, [rhs, lhs], &batch, right_matrix)?;
    let rank = batch.len() as i64;
    let paired: Vec<i64> = (0..rank).collect();
    Contract::with(&[rank + 1], &[rank])
        .lhs_batch(&paired)
        .rhs_batch(&paired)
        .build(b, lhs_stack, rhs_stack)
}

/// Emits the first value, with its batch dimensions broadcast to the common ones.
fn stack(
    b: &mut Builder<'_>,
    [value, other]: [ValueId; 2],
    batch: &[Dim],
    matrix: &[Dim],
) -> Lowered {
    let target: Shape = batch.iter().chain(matrix).copied().collect();
    let batch_dims = |b: &Builder<'_>, value: ValueId| -> Vec<Option<usize>> {
        let own = b.graph.ty(value).rank() - 2;
        (batch.len() - own..batch.len()).map(Some).collect()
    };
    let mut dims = batch_dims(b, value);
    dims.extend([Some(batch.len()), Some(batch.len() + 1)]);
    let mut other_dims = batch_dims(b, other);
    other_dims.extend([None, None]);
    let operand = BroadcastOperand {
        value,
        dims: &dims,
        other,
        other_dims: &other_dims,
        shape: &target,
    };
    broadcast_operand(b, &operand)
}

fn lower_conv2d(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let conv = Conv2d::from_id(op);
    let strides = conv.strides(b.graph).to_vec();
    let pads = match conv.padding(b.graph) {
        Padding::Custom(pads) => Some(*pads),
        _ => None,
    };
    let padding = match (conv.padding(b.graph), &pads) {
        (_, Some(pads)) => Padding::Custom(pads),
        (Padding::Same, _) => Padding::Same,
        (Padding::Valid | Padding::Custom(_), _) => Padding::Valid,
    };
    let (input, filter) = (conv.input(b.graph), conv.filter(b.graph));
    let window = Window::with().strides(&strides).padding(padding);
    window.build(b, input, filter)
}
