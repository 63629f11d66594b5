//! The shape rule and evaluation of ops with a scalar function, which `ops!` uses.

use smallvec::{SmallVec, smallvec};

use super::ScalarFn;
use crate::entity::{OpId, ValueId};
use crate::graph::Graph;
use crate::opdef::{EvalHook, InferHook, Inferred};
use crate::types::{Dim, Shape, TypeView, broadcast};
use crate::verify::VerifyError;

/// Returns the shape rule of an op that applies `function`: the shapes of its operands broadcast.
pub const fn infer_hook(function: ScalarFn) -> InferHook {
    match function.arity() {
        1 => infer_unary,
        2 => infer_binary,
        _ => infer_ternary,
    }
}

/// The evaluation of an op that applies a scalar function.
pub const EVAL: EvalHook = |op, cx, operands| {
    let function = cx.graph.scalar(op).expect("the op applies a function");
    Ok(smallvec![function.eval(cx, operands)?])
};

type Types = SmallVec<[Inferred; 1]>;

fn infer_unary(op: OpId, g: &Graph) -> Result<Types, Box<VerifyError>> {
    let ty = g.type_id(g.operands(op)[0]).expect("operands have types");
    Ok(smallvec![Inferred::Known(ty)])
}

fn infer_binary(op: OpId, g: &Graph) -> Result<Types, Box<VerifyError>> {
    let (lhs, rhs) = (g.operands(op)[0], g.operands(op)[1]);
    let (left, right) = (g.ty(lhs), g.ty(rhs));
    let function = g.def(op).scalar.expect("the op applies a function");
    let dtype = function.result(left.dtype);
    let distinct = left.shape.contains(&Dim::Dynamic);
    if g.type_id(lhs) == g.type_id(rhs) && !distinct && dtype == left.dtype {
        return infer_unary(op, g);
    }
    let shape = joined(g, left, right.shape)?;
    Ok(smallvec![
        TypeView {
            dtype,
            shape: &shape
        }
        .to_owned()
        .into()
    ])
}

/// The shape rule of a ternary function, whose first operand may have another dtype.
fn infer_ternary(op: OpId, g: &Graph) -> Result<Types, Box<VerifyError>> {
    let ty = |value: ValueId| g.ty(value);
    let &[which, first, second] = g.operands(op) else {
        unreachable!("the number of operands is checked before");
    };
    let sides = joined(g, ty(first), ty(second).shape)?;
    let shape = joined(g, ty(which), &sides)?;
    Ok(smallvec![ty(first).with_shape(shape).into()])
}

/// Returns the shape that the shapes of `left` and `right` broadcast to.
fn joined(g: &Graph, left: TypeView<'_>, right: &[Dim]) -> Result<Shape, Box<VerifyError>> {
    let shape = broadcast(left.shape, right);
    shape.map_err(|clash| Box::new(VerifyError::broadcast(g, left.shape, right, clash)))
}
