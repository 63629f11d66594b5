//! Constant values of ops.

use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::with_float;
use mind_ir::{Graph, OpId, ValueId};
use smallvec::SmallVec;

/// How large a folded constant may grow.
#[derive(Clone, Copy, Debug)]
pub struct ConstantLimit {
    /// Bytes that a result may have beyond those its operands are stored in.
    pub growth: u64,
}

impl Default for ConstantLimit {
    fn default() -> ConstantLimit {
        ConstantLimit { growth: 1024 }
    }
}

/// The tensor that `value` is known to be, if its op is a constant of at most `limit` bytes.
pub fn constant_value(g: &Graph, value: ValueId, limit: u64) -> Option<Tensor> {
    let op = g.defining_op(value)?;
    let def = g.def(op);
    if !def.has(Trait::Constant) {
        return None;
    }
    let dims = DimEnv::default();
    let results = def.eval?(op, &EvalCx::fold(g, &dims, limit), &[]).ok()?;
    results.into_iter().next()
}

/// Whether all of the op's operands are constants and there is at least one.
pub fn constant_operands(g: &Graph, op: OpId) -> bool {
    let operands = g.operands(op);
    let constant = |&value: &ValueId| {
        g.defining_op(value)
            .is_some_and(|source| g.def(source).has(Trait::Constant))
    };
    !operands.is_empty() && operands.iter().all(constant)
}

/// What an op with constant operands computes, where it is safe to know that when compiling: no
/// integer overflow, no division without result, no index out of bounds, no NaN or infinity, nothing empty, and no
/// result larger than the stored operands and `limit` allow.
pub fn fold_to_constants(
    g: &Graph,
    op: OpId,
    limit: ConstantLimit,
) -> Option<SmallVec<[Tensor; 1]>> {
    let def: &OpDef = g.def(op);
    // The ops of a body are folded one by one: each result on the way has to be finite too.
    if !def.has(Trait::Pure) || def.regions > 0 || !constant_operands(g, op) {
        return None;
    }
    let bytes: u64 = g
        .operands(op)
        .iter()
        .map(|&value| stored_bytes(g, value))
        .sum();
    let limit = bytes + limit.growth;
    let operands: Option<SmallVec<[Tensor; 4]>> = g
        .operands(op)
        .iter()
        .map(|&value| constant_value(g, value, limit))
        .collect();
    let operands = operands?;
    let borrowed: SmallVec<[&Tensor; 4]> = operands.iter().collect();
    let dims = DimEnv::default();
    let results = def.eval?(op, &EvalCx::fold(g, &dims, limit), &borrowed).ok()?;
    results
        .iter()
        .all(|tensor| tensor.count() > 0 && is_finite(tensor))
        .then_some(results)
}

/// The bytes that a constant takes in the module; a splat counts one element.
fn stored_bytes(g: &Graph, value: ValueId) -> u64 {
    let Some(op) = g.defining_op(value) else {
        return 0;
    };
    let bytes = |attr: &Attr<'_>| match attr {
        Attr::Literal(literal) => literal.bytes.len() as u64,
        _ => 8,
    };
    g.attrs(op).iter().map(bytes).sum()
}

fn is_finite(tensor: &Tensor) -> bool {
    fn float<T: FloatNum>(tensor: &Tensor) -> bool {
        tensor.elements::<T>().iter().all(|x| x.is_finite())
    }
    with_float!(tensor.dtype(), T => float::<T>(tensor), else true)
}
