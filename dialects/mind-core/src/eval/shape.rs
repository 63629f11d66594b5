//! Placeholder.
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use crate::ops::shape::*;
pub(crate) fn eval_reshape(_: Reshape, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_reshape")) }
pub(crate) fn eval_transpose(_: Transpose, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_transpose")) }
pub(crate) fn eval_expand_dims(_: ExpandDims, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_expand_dims")) }
pub(crate) fn eval_squeeze(_: Squeeze, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_squeeze")) }
