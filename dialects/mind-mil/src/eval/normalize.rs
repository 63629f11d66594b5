//! Softmax and normalisations.

use mind_core::eval::reduce::{ReducedAxes, max, mean, sum};
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::ScalarFn;
use mind_ir::scalar::math::{exp_f32, log_f32};
use mind_ir::tensor::Tensor;

use super::kernel::{alike, number, one, operand, optional, rounded, scalar, singles};
use crate::call::{ArgState, Call};

fn along(axes: &[i64], rank: usize) -> ReducedAxes {
    let rank = rank as i64;
    let reduced = (0..rank).map(|at| axes.contains(&at) || axes.contains(&(at - rank)));
    ReducedAxes::new(reduced.collect(), true)
}

/// Softmax as in core: subtracts the maximum, and divides the exponentials by their sum.
pub(crate) fn softmax_along(cx: &EvalCx<'_>, x: &Tensor, axis: i64) -> Result<Tensor, EvalError> {
    let largest = max(cx, x, &along(&[axis], x.rank()))?;
    let shifted = scalar(cx, ScalarFn::Sub, &[x, &largest])?;
    let powers = scalar(cx, ScalarFn::Exp, &[&shifted])?;
    let total = sum(cx, &powers, &along(&[axis], x.rank()))?;
    scalar(cx, ScalarFn::Div, &[&powers, &total])
}

/// `softmax` along `axis`.
pub(crate) fn softmax(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let axis = call.int("axis").unwrap_or(-1);
    one(softmax_along(cx, operand(call, operands, "x"), axis)?)
}

/// Core's `LayerNorm` over `axes`, then `gamma` and `beta`.
pub(crate) fn layer(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => axes,
        _ => (0..x.rank() as i64).collect(),
    };
    let along = along(&axes, x.rank());
    let center = mean(cx, x, &along)?;
    let deviation = scalar(cx, ScalarFn::Sub, &[x, &center])?;
    let squares = scalar(cx, ScalarFn::Mul, &[&deviation, &deviation])?;
    let variance = mean(cx, &squares, &along)?;
    let epsilon = number(x, call.float("epsilon").unwrap_or(1e-5));
    let shifted = scalar(cx, ScalarFn::Add, &[&variance, &epsilon])?;
    let scale = scalar(cx, ScalarFn::Sqrt, &[&shifted])?;
    let mut result = scalar(cx, ScalarFn::Div, &[&deviation, &scale])?;
    let rank = x.rank() as i64;
    let shape: Vec<usize> = (0..rank)
        .map(|at| {
            if axes.contains(&at) || axes.contains(&(at - rank)) {
                x.shape()[at as usize]
            } else {
                1
            }
        })
        .collect();
    for (name, function) in [("gamma", ScalarFn::Mul), ("beta", ScalarFn::Add)] {
        if let Some(factor) = optional(call, operands, name) {
            let factor = alike(cx, factor, x)?.with_shape(shape.clone());
            result = scalar(cx, function, &[&result, &factor])?;
        }
    }
    one(result)
}

/// Computes `(x - mean) / sqrt(variance + epsilon) * gamma + beta` per channel; if `mean` is omitted, with the moments
/// of each instance.
pub(crate) fn batch(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let list = |name: &str| optional(call, operands, name).map(singles);
    let [means, variances, gamma, beta] = ["mean", "variance", "gamma", "beta"].map(list);
    let epsilon = call.float("epsilon").unwrap_or(1e-5) as f32;
    let channels = x.shape()[1];
    let inner: usize = x.shape()[2..].iter().product();
    let mut elements = singles(x);
    for (plane, run) in elements.chunks_mut(inner.max(1)).enumerate() {
        let channel = plane % channels;
        let (center, variance) = match (&means, &variances) {
            (Some(means), Some(variances)) => (means[channel], variances[channel]),
            _ => moments(run),
        };
        let scale =
            gamma.as_ref().map_or(1.0, |gamma| gamma[channel]) / (variance + epsilon).sqrt();
        let shift = beta.as_ref().map_or(0.0, |beta| beta[channel]);
        run.iter_mut()
            .for_each(|x| *x = (*x - center) * scale + shift);
    }
    one(rounded(x, x.shape().to_vec(), &elements))
}

fn moments(run: &[f32]) -> (f32, f32) {
    let count = run.len() as f32;
    let center = run.iter().sum::<f32>() / count;
    let squares = run.iter().map(|x| (x - center) * (x - center));
    (center, squares.sum::<f32>() / count)
}

/// Divides by the root of the sum of squares over the last three dimensions.
pub(crate) fn l2(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let epsilon = call.float("epsilon").unwrap_or(1e-6) as f32;
    let inner: usize = x.shape()[x.rank() - 3..].iter().product();
    let mut elements = singles(x);
    for run in elements.chunks_mut(inner.max(1)) {
        let norm = (run.iter().map(|x| x * x).sum::<f32>() + epsilon).sqrt();
        run.iter_mut().for_each(|x| *x /= norm);
    }
    one(rounded(x, x.shape().to_vec(), &elements))
}

/// `x / (k + alpha / size * the sum of squares over the channels around)^beta`.
pub(crate) fn across_channels(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let &[_, channels, ref places @ ..] = x.shape() else {
        return Err(EvalError::Shape("it takes rank 3 or more".to_owned()));
    };
    let number = |name: &str, default: f64| call.float(name).unwrap_or(default) as f32;
    let (alpha, beta, k) = (
        number("alpha", 1e-4),
        number("beta", 0.75),
        number("k", 1.0),
    );
    let size = call.int("size").unwrap_or(1).max(1) as usize;
    cx.count(x.dtype(), x.shape())?;
    let (inner, elements) = (places.iter().product::<usize>(), singles(x));
    let mut results = vec![0f32; elements.len()];
    for (at, result) in results.iter_mut().enumerate() {
        let (sample, channel, place) = (at / inner / channels, at / inner % channels, at % inner);
        let around = channel.saturating_sub(size / 2)..channels.min(channel + (size - 1) / 2 + 1);
        let square = |other: usize| {
            let own = elements[(sample * channels + other) * inner + place];
            own * own
        };
        let below = k + alpha / size as f32 * around.map(square).sum::<f32>();
        *result = elements[at] / exp_f32(beta * log_f32(below));
    }
    one(rounded(x, x.shape().to_vec(), &results))
}
