//! Placeholder.
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use crate::ops::conv::*;
pub(crate) fn eval_conv2d(_: Conv2d, _: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> { Err(EvalError::NotEvaluable("eval_conv2d")) }
