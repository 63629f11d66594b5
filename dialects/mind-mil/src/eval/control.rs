//! Nested blocks.

use mind_ir::BlockId;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult, eval_inner};
use mind_ir::tensor::Tensor;

use crate::call::{Call, integers};

/// Maximum trip count of a loop; a longer loop is an error.
const ITERATIONS: usize = 1 << 16;

fn block(call: &Call<'_>, index: usize) -> BlockId {
    call.g.block(call.g.regions(call.op)[index])
}

/// Returns the values that a block yields. `operands` ends with the values that the block captures.
fn yielded(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
    index: usize,
    arguments: &[&Tensor],
) -> Result<Vec<Tensor>, EvalError> {
    let outside = &operands[call.g.operands(call.op).len()..];
    let captures = call.g.captures(call.op);
    if captures.len() != outside.len() {
        return Err(EvalError::NotEvaluable(
            "a block without what it reads from outside",
        ));
    }
    let captured: Vec<_> = captures.into_iter().zip(outside.iter().copied()).collect();
    let results = eval_inner(cx, block(call, index), arguments, &captured);
    results.map_err(EvalError::inside)
}

fn is_true(tensors: &[Tensor]) -> bool {
    tensors
        .first()
        .is_some_and(|flag| integers(flag).first() == Some(&1))
}

/// Runs the first block if the predicate is true, else the second.
pub(crate) fn cond(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let chosen = integers(operands[0]).first() == Some(&1);
    let results = yielded(call, cx, operands, usize::from(!chosen), &[])?;
    Ok(results.into_iter().collect())
}

/// Runs the second block on its own results while the first yields true.
pub(crate) fn while_loop(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let count = call.values("loop_vars").len();
    let mut values: Vec<Tensor> = operands[..count].iter().map(|&own| own.clone()).collect();
    for _ in 0..ITERATIONS {
        let arguments: Vec<&Tensor> = values.iter().collect();
        if !is_true(&yielded(call, cx, operands, 0, &arguments)?) {
            return Ok(values.into_iter().collect());
        }
        values = yielded(call, cx, operands, 1, &arguments)?;
    }
    Err(EvalError::Shape(format!(
        "the loop has not ended after {ITERATIONS} rounds"
    )))
}
