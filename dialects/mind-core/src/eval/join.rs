//! Placeholder.
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use crate::ops::join::*;
pub(crate) fn eval_concat(_: Concat, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_concat")) }
pub(crate) fn eval_split(_: Split, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_split")) }
