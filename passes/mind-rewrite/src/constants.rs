//! Constant values of ops.

use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::scalar::Facts;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
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
    !operands.is_empty() && operands.iter().all(|&value| is_constant(g, value))
}

fn is_constant(g: &Graph, value: ValueId) -> bool {
    let source = g.defining_op(value);
    source.is_some_and(|source| g.def(source).has(Trait::Constant))
}

/// The most bytes of what is computed of constants on the way to a result; more takes longer than a program that is bound.
const ON_THE_WAY: u64 = 1 << 20;

/// What an op with constant operands computes, where it is safe to know that when compiling: no
/// integer overflow, no division without result, no index out of bounds, no NaN or infinity, nothing empty, and no
/// result larger than the stored operands and `limit` allow. Operands may also be computed of constants and be too large
/// to be constants themselves, as integers of four bytes that sum up those of one.
pub fn fold_to_constants(
    g: &Graph,
    op: OpId,
    limit: ConstantLimit,
) -> Option<SmallVec<[Tensor; 1]>> {
    let operands = g.operands(op);
    let is_known = |&value: &ValueId| {
        let source = g.defining_op(value);
        is_constant(g, value)
            || source.is_some_and(|source| folds(g, source) && constant_operands(g, source))
    };
    if !folds(g, op) || operands.is_empty() || !operands.iter().all(is_known) {
        return None;
    }
    let stored: u64 = operands.iter().map(|&value| stored_below(g, value)).sum();
    let limit = stored + limit.growth;
    if !constant_operands(g, op) && results_bytes(g, op).is_none_or(|bytes| bytes > limit) {
        return None;
    }
    let known: Option<SmallVec<[Tensor; 4]>> = operands
        .iter()
        .map(|&value| match is_constant(g, value) {
            true => constant_value(g, value, limit),
            false => on_the_way(g, value),
        })
        .collect();
    evaluated(g, op, &known?, limit)
}

/// Whether the value of an op may be known when compiling.
fn folds(g: &Graph, op: OpId) -> bool {
    let def: &OpDef = g.def(op);
    // The ops of a body are folded one by one: each result on the way has to be finite too.
    def.has(Trait::Pure) && def.regions == 0
}

/// What an op computes of these operands, if it takes at most `limit` bytes.
fn evaluated(
    g: &Graph,
    op: OpId,
    operands: &[Tensor],
    limit: u64,
) -> Option<SmallVec<[Tensor; 1]>> {
    let borrowed: SmallVec<[&Tensor; 4]> = operands.iter().collect();
    let dims = DimEnv::default();
    let results = g.def(op).eval?(op, &EvalCx::fold(g, &dims, limit), &borrowed).ok()?;
    results
        .iter()
        .all(|tensor| tensor.count() > 0 && Facts::of_tensor(tensor).has(Facts::FINITE))
        .then_some(results)
}

/// What an op with one result and constant operands computes, if it takes at most [`ON_THE_WAY`] bytes.
fn on_the_way(g: &Graph, value: ValueId) -> Option<Tensor> {
    let op = g.defining_op(value)?;
    if results_bytes(g, op).is_none_or(|bytes| bytes > ON_THE_WAY) {
        return None;
    }
    let operands = g.operands(op).iter();
    let operands: Option<SmallVec<[Tensor; 4]>> = operands
        .map(|&operand| constant_value(g, operand, ON_THE_WAY))
        .collect();
    let mut results = evaluated(g, op, &operands?, ON_THE_WAY)?;
    results.pop().filter(|_| results.is_empty())
}

/// The bytes of all results of an op whose extents are known.
fn results_bytes(g: &Graph, op: OpId) -> Option<u64> {
    let bytes = g.results(op).into_iter().map(|value| {
        let ty = g.ty(value);
        let extents = ty.shape.iter().map(|dim| match dim {
            Dim::Fixed(extent) => u64::try_from(*extent).ok(),
            Dim::Symbol(_) | Dim::Dynamic => None,
        });
        let count = extents.product::<Option<u64>>()?;
        Some(count * ty.dtype.size() as u64)
    });
    bytes.sum()
}

/// The bytes that a constant takes in the module, or those that a value is computed of.
fn stored_below(g: &Graph, value: ValueId) -> u64 {
    if is_constant(g, value) {
        return stored_bytes(g, value);
    }
    let operands = g.defining_op(value).map_or(&[][..], |op| g.operands(op));
    operands
        .iter()
        .map(|&operand| stored_bytes(g, operand))
        .sum()
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
