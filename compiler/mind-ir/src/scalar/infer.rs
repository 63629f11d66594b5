//! The shape rule of elementwise ops.

use smallvec::{SmallVec, smallvec};

use super::ScalarFn;
use crate::entity::OpId;
use crate::graph::Graph;
use crate::opdef::{InferHook, Inferred};
use crate::types::broadcast;
use crate::verify::VerifyError;

/// The shape rule of an op that applies `function`: the broadcast of its operands' shapes.
pub const fn infer_hook(function: ScalarFn) -> InferHook {
    match function.arity() {
        1 => infer_unary,
        _ => infer_binary,
    }
}

type Types = SmallVec<[Inferred; 1]>;

fn infer_unary(op: OpId, g: &Graph) -> Result<Types, Box<VerifyError>> {
    let ty = g.type_id(g.operands(op)[0]).expect("operands have types");
    Ok(smallvec![Inferred::Known(ty)])
}

fn infer_binary(op: OpId, g: &Graph) -> Result<Types, Box<VerifyError>> {
    let (lhs, rhs) = (g.operands(op)[0], g.operands(op)[1]);
    let (left, right) = (g.ty(lhs), g.ty(rhs));
    let distinct = left.shape.contains(&crate::types::Dim::Dynamic);
    if g.type_id(lhs) == g.type_id(rhs) && !distinct {
        return infer_unary(op, g);
    }
    match broadcast(left.shape, right.shape) {
        Ok(shape) => Ok(smallvec![left.with_shape(shape).into()]),
        Err(clash) => Err(Box::new(VerifyError::broadcast(
            g,
            left.shape,
            right.shape,
            clash,
        ))),
    }
}
