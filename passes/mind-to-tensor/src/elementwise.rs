//! Ops that apply one scalar function at every position.

use mind_core::scalar_of;
use mind_ir::OpId;
use mind_ir::builder::Builder;

use crate::broadcast::broadcast_with;
use crate::emit::{Lowered, map, unary};

/// A map whose body holds the op. A constant of one value everywhere stands in the body.
pub(crate) fn lower(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let def = b.graph.def(op);
    let &[lhs, rhs] = b.graph.operands(op) else {
        let input = b.graph.operands(op)[0];
        return unary(b, def, input);
    };
    match [scalar_of(b.graph, lhs), scalar_of(b.graph, rhs)] {
        [None, Some(constant)] => {
            let left = broadcast_with(b, lhs, rhs)?;
            map(b, &[left], |b, scalars| {
                let constant = mind_core::constant(b, &constant);
                b.one(def, &[scalars[0], constant], &[])
            })
        }
        [Some(constant), None] => {
            let right = broadcast_with(b, rhs, lhs)?;
            map(b, &[right], |b, scalars| {
                let constant = mind_core::constant(b, &constant);
                b.one(def, &[constant, scalars[0]], &[])
            })
        }
        _ => {
            let left = broadcast_with(b, lhs, rhs)?;
            let right = broadcast_with(b, rhs, lhs)?;
            map(b, &[left, right], |b, scalars| b.one(def, scalars, &[]))
        }
    }
}
