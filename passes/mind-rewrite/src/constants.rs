//! Constant values of ops.

use mind_ir::attr::Attr;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::scalar::Facts;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::{Graph, OpId, ValueId};
use smallvec::SmallVec;

/// Limit on the size of folded constants.
#[derive(Clone, Copy, Debug)]
pub struct ConstantLimit {
    /// How many bytes a result may take beyond the stored size of its operands.
    pub growth: u64,
}

impl Default for ConstantLimit {
    fn default() -> ConstantLimit {
        ConstantLimit { growth: 1024 }
    }
}

/// Returns the tensor of `value` if it is a constant of at most `limit` bytes.
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

/// Returns whether the op has operands and all of them are constants.
pub fn constant_operands(g: &Graph, op: OpId) -> bool {
    let operands = g.operands(op);
    !operands.is_empty() && operands.iter().all(|&value| is_constant(g, value))
}

fn is_constant(g: &Graph, value: ValueId) -> bool {
    let source = g.defining_op(value);
    source.is_some_and(|source| g.def(source).has(Trait::Constant))
}

/// Maximum size of an intermediate result that is computed while folding; evaluating more takes longer here than at
/// bind time.
const MAX_INTERMEDIATE_BYTES: u64 = 1 << 20;

/// Evaluates an op with constant operands, if that is safe at compile time: integers do not overflow, no division or
/// index is invalid, no result is NaN, infinite or empty, and no result is larger than `limit` allows for the stored
/// operands. Operands may themselves be computed from constants and be too large to be stored, for example 4-byte sums
/// of 1-byte integers.
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
            false => evaluate_intermediate(g, value),
        })
        .collect();
    evaluated(g, op, &known?, limit)
}

/// Returns whether an op may be evaluated at compile time.
fn folds(g: &Graph, op: OpId) -> bool {
    let def: &OpDef = g.def(op);
    // The ops of a body are folded one by one, because each intermediate result must be finite too.
    def.has(Trait::Pure) && def.regions == 0
}

/// Evaluates an op on these operands; returns `None` if the results take more than `limit` bytes.
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

/// Evaluates an op with one result and constant operands, if it takes at most [`MAX_INTERMEDIATE_BYTES`] bytes.
fn evaluate_intermediate(g: &Graph, value: ValueId) -> Option<Tensor> {
    let op = g.defining_op(value)?;
    if results_bytes(g, op).is_none_or(|bytes| bytes > MAX_INTERMEDIATE_BYTES) {
        return None;
    }
    let operands = g.operands(op).iter();
    let operands: Option<SmallVec<[Tensor; 4]>> = operands
        .map(|&operand| constant_value(g, operand, MAX_INTERMEDIATE_BYTES))
        .collect();
    let mut results = evaluated(g, op, &operands?, MAX_INTERMEDIATE_BYTES)?;
    results.pop().filter(|_| results.is_empty())
}

/// Returns the size in bytes of all results of an op with known extents.
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

/// Returns the stored size of a constant, or of the constants that a value is computed from.
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

/// Returns the size in bytes that a constant takes in the module; a splat takes one element.
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
