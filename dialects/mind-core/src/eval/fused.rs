//! Evaluation of a fused group: its body.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult, eval_block};
use mind_ir::tensor::Tensor;

use crate::ops::fused::Fused;

/// What the body yields.
pub(crate) fn eval_fused(op: Fused, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let mut no_inputs = |inner| Err(EvalError::NotEvaluable(cx.graph.def(inner).name));
    let results = eval_block(cx, op.body(cx.graph), operands, &mut no_inputs);
    results
        .map(|tensors| tensors.into_iter().collect())
        .map_err(|(_, error)| error)
}
