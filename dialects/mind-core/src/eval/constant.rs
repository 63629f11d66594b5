//! Placeholder.
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use crate::ops::constant::*;
pub(crate) fn eval_i64(_: ConstI64, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_i64")) }
pub(crate) fn eval_f32(_: ConstF32, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_f32")) }
pub(crate) fn eval_f64(_: ConstF64, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_f64")) }
pub(crate) fn eval_tensor(_: ConstTensor, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_tensor")) }
