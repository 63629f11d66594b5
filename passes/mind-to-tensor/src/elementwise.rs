//! Ops that apply one scalar function at every position.

use mind_core::ops::constant::ConstTensor;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::{OpId, ValueId};
use mind_rewrite::constant_value;

use crate::conversion::Lowered;
use crate::emit::{broadcast_with, map, one, unary};

/// A map whose body holds the op. A constant of one value everywhere stands in the body.
pub(crate) fn lower(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let def = b.graph.def(op);
    let &[lhs, rhs] = b.graph.operands(op) else {
        let input = b.graph.operands(op)[0];
        return unary(b, def, input);
    };
    match [splat(b.graph, lhs), splat(b.graph, rhs)] {
        [None, Some(constant)] => {
            let left = broadcast_with(b, lhs, rhs)?;
            map(b, &[left], |b, scalars| {
                let constant = mind_core::constant(b, &constant);
                one(b, def, &[scalars[0], constant], &[])
            })
        }
        [Some(constant), None] => {
            let right = broadcast_with(b, rhs, lhs)?;
            map(b, &[right], |b, scalars| {
                let constant = mind_core::constant(b, &constant);
                one(b, def, &[constant, scalars[0]], &[])
            })
        }
        _ => {
            let left = broadcast_with(b, lhs, rhs)?;
            let right = broadcast_with(b, rhs, lhs)?;
            map(b, &[left, right], |b, scalars| one(b, def, scalars, &[]))
        }
    }
}

/// The scalar that `value` is everywhere, if it is such a constant.
fn splat(g: &Graph, value: ValueId) -> Option<Tensor> {
    let op = g.defining_op(value)?;
    let Some(constant) = g.view::<ConstTensor>(op) else {
        return constant_value(g, value, 8).filter(|tensor| tensor.rank() == 0);
    };
    let data = constant.data(g);
    let single = data.is_splat() || data.count == Some(1);
    let first = data.bytes.get(..data.dtype.size()).filter(|_| single)?;
    Some(Tensor::new(
        Vec::new(),
        Buffer::from_bytes(data.dtype, first),
    ))
}
