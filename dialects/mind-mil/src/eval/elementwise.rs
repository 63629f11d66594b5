//! Elementwise ops.

use mind_core::eval::convert;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::math::{exp2_f32, log_f32, tanh_f32};
use mind_ir::scalar::{Broadcast, ScalarFn};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

use super::exponential;
use super::kernel::{map, numbers, one, operand, optional, pairs, scalar, singles};
use super::whole;
use crate::call::{Call, integers};
use crate::element::Element;
use crate::functions;
use crate::scalar::function_of;

type Operands<'o, 't> = &'o [&'t Tensor];

/// Applies the core function of the op's name to argument `x`.
pub(crate) fn unary(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: Operands<'_, '_>,
) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let function = function_of(call.name).filter(|own| own.domain().admits(x.dtype()));
    one(match function {
        Some(function) => scalar(cx, function, &[x])?,
        None if call.name == "square" => scalar(cx, ScalarFn::Mul, &[x, x])?,
        None if !x.dtype().is_float() => integer(call.name, call, cx, x)?,
        None => return computed(call, cx, x),
    })
}

/// Computes an integer function that core lacks.
fn integer(name: &str, call: &Call<'_>, cx: &EvalCx<'_>, x: &Tensor) -> Result<Tensor, EvalError> {
    cx.count(x.dtype(), x.shape())?;
    match name {
        "threshold" => {
            let alpha = call.float("alpha").unwrap_or(0.0) as i64;
            Ok(whole::map(x, |x| x.max(alpha)))
        }
        "exp2" => map(cx, x, exp2_f32),
        other => match functions::named(other) {
            Some(function) => map(cx, x, function),
            None => unreachable!("`{other}` takes floats"),
        },
    }
}

/// Computes a function that core lacks, in `f32`.
fn computed(call: &Call<'_>, cx: &EvalCx<'_>, x: &Tensor) -> EvalManyResult {
    if let Some(function) = functions::named(call.name) {
        return one(map(cx, x, function)?);
    }
    let parameter = |name: &str| call.float(name).unwrap_or(0.0) as f32;
    let (alpha, beta, epsilon) = (parameter("alpha"), parameter("beta"), parameter("epsilon"));
    let function: Box<dyn Fn(f32) -> f32> = match call.name {
        "log" => Box::new(move |x| log_f32(x + epsilon)),
        "rsqrt" => Box::new(move |x| 1.0 / (x + epsilon).sqrt()),
        "inverse" => Box::new(move |x| 1.0 / (x + epsilon)),
        "relu6" => Box::new(|x| x.clamp(0.0, 6.0)),
        "softsign" => Box::new(|x| x / (1.0 + x.abs())),
        // NaN is kept, because it is neither below nor above a bound.
        "clip" => Box::new(move |x| at_most(at_least(x, alpha), beta)),
        "threshold" => Box::new(move |x| at_least(x, alpha)),
        "leaky_relu" => Box::new(move |x| if x >= 0.0 { x } else { alpha * x }),
        "elu" => Box::new(move |x| exponential::elu(x, alpha)),
        "thresholded_relu" => Box::new(move |x| if x >= alpha { x } else { 0.0 }),
        "clamped_relu" => Box::new(move |x| {
            if x >= 0.0 {
                x.min(beta)
            } else {
                (alpha * x).min(beta)
            }
        }),
        "linear_activation" => Box::new(move |x| alpha * x + beta),
        "scaled_tanh" => Box::new(move |x| alpha * tanh_f32(beta * x)),
        "sigmoid_hard" => Box::new(move |x| (alpha * x + beta).clamp(0.0, 1.0)),
        "gelu" => Box::new(functions::gelu(call.word("mode"))),
        other => unreachable!("`{other}` has a row of its own"),
    };
    one(map(cx, x, function)?)
}

/// `prelu` and `softplus_parametric`, whose parameters have one number per channel.
pub(crate) fn per_channel(
    call: &Call<'_>,
    _: &EvalCx<'_>,
    operands: Operands<'_, '_>,
) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let list = |name: &str| optional(call, operands, name).map_or(vec![1.0], singles);
    let (alpha, beta) = (list("alpha"), list("beta"));
    let inner: usize = x.shape()[2..].iter().product();
    let elements = singles(x).into_iter().enumerate().map(|(at, x)| {
        let own = |list: &[f32]| list[at / inner % list.len()];
        match call.name {
            "prelu" if x >= 0.0 => x,
            "prelu" => x * own(&alpha),
            "softplus_parametric" => own(&alpha) * exponential::softplus(own(&beta) * x),
            other => unreachable!("`{other}` is evaluated elsewhere"),
        }
    });
    one(numbers(
        x,
        x.shape().to_vec(),
        &elements.collect::<Vec<f32>>(),
    ))
}

/// Arithmetic on `x` and `y`, by the name of the op.
pub(crate) fn binary(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: Operands<'_, '_>,
) -> EvalManyResult {
    let (x, y) = (operand(call, operands, "x"), operand(call, operands, "y"));
    if let Some(function) = function_of(call.name) {
        return one(scalar(cx, function, &[x, y])?);
    }
    if !x.dtype().is_float() {
        return whole::binary(call.name, cx, x, y);
    }
    if call.name == "pow" {
        return one(scalar(cx, ScalarFn::Pow, &[x, y])?);
    }
    let function: fn(f64, f64) -> f32 = match call.name {
        "floor_div" => |x, y| (x / y).floor() as f32,
        other => unreachable!("`{other}` is evaluated elsewhere"),
    };
    let (shape, pairs) = pairs(cx, x, y)?;
    let elements = pairs.into_iter().map(|(x, y)| function(x, y));
    one(numbers(x, shape, &elements.collect::<Vec<f32>>()))
}

/// `a` where the condition holds, else `b`.
pub(crate) fn select(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: Operands<'_, '_>,
) -> EvalManyResult {
    let [cond, a, b] = ["cond", "a", "b"].map(|name| operand(call, operands, name));
    let broadcast = Broadcast::of([cond.shape(), a.shape(), b.shape()])?;
    cx.count(a.dtype(), broadcast.shape())?;
    let flags = integers(cond);
    one(mind_ir::with_dtype!(a.dtype(), T => {
        let (a, b) = (a.elements::<T>(), b.elements::<T>());
        let chosen = |[at, x, y]: [usize; 3]| if flags[at] != 0 { a[x] } else { b[y] };
        let elements = broadcast.positions().map(chosen).collect();
        Tensor::of(broadcast.into_shape(), elements)
    }))
}

/// The elements in another element type, as core's `Cast` converts them.
pub(crate) fn cast(call: &Call<'_>, cx: &EvalCx<'_>, operands: Operands<'_, '_>) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let dtype = Element::parse(call.word("dtype")).map_or(DType::F32, Element::carrier);
    one(convert::cast(cx, x, dtype)?)
}

/// Returns the larger of `x` and `bound`; NaN is kept.
fn at_least(x: f32, bound: f32) -> f32 {
    if x < bound { bound } else { x }
}

/// Returns the smaller of `x` and `bound`; NaN is kept.
fn at_most(x: f32, bound: f32) -> f32 {
    if x > bound { bound } else { x }
}
