//! Placeholder.
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use crate::ops::index::*;
pub(crate) fn eval_index(_: Index, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_index")) }
pub(crate) fn eval_slice(_: Slice, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_slice")) }
pub(crate) fn eval_gather(_: Gather, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_gather")) }
