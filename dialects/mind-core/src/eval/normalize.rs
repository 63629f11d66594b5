//! Evaluation of normalisation: literally the ops that define it, one after the other.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::scalar::{ScalarFn, eval as elementwise};
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::with_float;

use super::reduce::{Along, max, mean, sum};
use crate::axes;
use crate::ops::normalize::{LayerNorm, Softmax};

/// What layer normalisation adds to the variance, rounded to the dtype.
const EPSILON: f64 = 1e-5;

/// `e / sum(e)` along an axis, with `e = exp(input - max(input))`.
pub(crate) fn eval_softmax(
    op: Softmax,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, rank) = (operands[0], operands[0].rank());
    let axis = axes::resolve("softmax", op.axis(cx.graph), rank);
    let along = Along::kept(axis.expect("a verified axis lies in the rank"), rank);
    let largest = max(cx, input, &along)?;
    let shifted = elementwise(ScalarFn::Sub, cx, &[input, &largest])?;
    let powers = elementwise(ScalarFn::Exp, cx, &[&shifted])?;
    let total = sum(cx, &powers, &along)?;
    elementwise(ScalarFn::Div, cx, &[&powers, &total])
}

/// `d / sqrt(mean(d * d) + 1e-5)` along the last axis, with `d = input - mean(input)`.
pub(crate) fn eval_layernorm(
    _: LayerNorm,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, rank) = (operands[0], operands[0].rank());
    let along = Along::kept(rank - 1, rank);
    let epsilon = with_float!(input.dtype(), T => Tensor::scalar(T::from_f64(EPSILON)), else {
        unreachable!("verified operands are floats")
    });
    let center = mean(cx, input, &along)?;
    let deviation = elementwise(ScalarFn::Sub, cx, &[input, &center])?;
    let squares = elementwise(ScalarFn::Mul, cx, &[&deviation, &deviation])?;
    let variance = mean(cx, &squares, &along)?;
    let shifted = elementwise(ScalarFn::Add, cx, &[&variance, &epsilon])?;
    let scale = elementwise(ScalarFn::Sqrt, cx, &[&shifted])?;
    elementwise(ScalarFn::Div, cx, &[&deviation, &scale])
}
