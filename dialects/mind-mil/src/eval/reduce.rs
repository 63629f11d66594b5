//! Reductions along axes.

use mind_core::eval::reduce::{ReducedAxes, max, mean, sum};
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{Tensor, advance, broadcast_strides};

use super::kernel::{map, one, operand, scalar};
use super::whole;
use crate::call::{ArgState, Call};

/// The reduction of the op's name.
pub(crate) fn reduce(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => axes,
        _ => (0..x.rank() as i64).collect(),
    };
    let rank = x.rank() as i64;
    let reduced: Vec<bool> = (0..rank)
        .map(|at| axes.contains(&at) || axes.contains(&(at - rank)))
        .collect();
    let keep = call.flag("keep_dims");
    let along = ReducedAxes::new(reduced.clone(), keep);
    let apply = |function, x: &Tensor| scalar(cx, function, &[x]);
    one(match call.name {
        "reduce_sum" => sum(cx, x, &along)?,
        "reduce_mean" => mean(cx, x, &along)?,
        "reduce_max" => max(cx, x, &along)?,
        "reduce_min" => apply(ScalarFn::Neg, &max(cx, &apply(ScalarFn::Neg, x)?, &along)?)?,
        "reduce_l1_norm" => sum(cx, &apply(ScalarFn::Abs, x)?, &along)?,
        "reduce_sum_square" => sum(cx, &scalar(cx, ScalarFn::Mul, &[x, x])?, &along)?,
        "reduce_l2_norm" => {
            let squares = scalar(cx, ScalarFn::Mul, &[x, x])?;
            let sum = sum(cx, &squares, &along)?;
            if x.dtype().is_float() {
                map(cx, &sum, f32::sqrt)?
            } else {
                whole::map(&sum, |sum| (sum as f64).sqrt() as i64)
            }
        }
        "reduce_log_sum" => apply(ScalarFn::Log, &sum(cx, x, &along)?)?,
        "reduce_prod" => product(cx, x, &reduced, keep)?,
        "reduce_log_sum_exp" => log_sum_exp(cx, x, reduced, keep)?,
        other => unreachable!("`{other}` is not a reduction"),
    })
}

/// Multiplies the elements along the axes in order: floats in `f64`, rounded once, and integers in 64 bits.
fn product(cx: &EvalCx<'_>, x: &Tensor, reduced: &[bool], keep: bool) -> Result<Tensor, EvalError> {
    let thin = x.shape().iter().zip(reduced);
    let thin: Vec<usize> = thin
        .map(|(&extent, &reduced)| if reduced { 1 } else { extent })
        .collect();
    let count = cx.count(x.dtype(), &thin)?;
    let strides = broadcast_strides(&thin, x.shape());
    let kept = thin.iter().zip(reduced);
    let kept = kept.filter(|(_, reduced)| keep || !**reduced);
    let shape = kept.map(|(&extent, _)| extent).collect();
    let mut index = vec![0usize; x.rank()];
    let mut next = || {
        let places = index.iter().zip(&strides);
        let place: usize = places.map(|(at, stride)| at * stride).sum();
        advance(&mut index, x.shape());
        place
    };
    if !x.dtype().is_float() {
        let mut products = vec![1i64; count];
        for element in crate::call::integers(x) {
            let product = &mut products[next()];
            *product = product.wrapping_mul(element);
        }
        return Ok(whole::wrapped(x.dtype(), shape, &products));
    }
    let mut products = vec![1f64; count];
    for element in crate::call::floats(x) {
        products[next()] *= element;
    }
    let products: Vec<f32> = products.into_iter().map(|product| product as f32).collect();
    Ok(super::kernel::numbers(x, shape, &products))
}

/// `m + log(sum(exp(x - m)))` with the largest element `m`.
fn log_sum_exp(
    cx: &EvalCx<'_>,
    x: &Tensor,
    reduced: Vec<bool>,
    keep: bool,
) -> Result<Tensor, EvalError> {
    let largest = max(cx, x, &ReducedAxes::new(reduced.clone(), true))?;
    let shifted = scalar(cx, ScalarFn::Sub, &[x, &largest])?;
    let powers = scalar(cx, ScalarFn::Exp, &[&shifted])?;
    let total = sum(cx, &powers, &ReducedAxes::new(reduced, keep))?;
    let largest = largest.with_shape(total.shape().to_vec());
    let log = scalar(cx, ScalarFn::Log, &[&total])?;
    scalar(cx, ScalarFn::Add, &[&log, &largest])
}

/// Partial sums along `axis`.
pub(crate) fn cumsum(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axis = call
        .int("axis")
        .unwrap_or(0)
        .rem_euclid(x.rank().max(1) as i64) as usize;
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let extent = x.shape()[axis];
    let (exclusive, reverse) = (call.flag("exclusive"), call.flag("reverse"));
    // The offsets in the order of the sum, each with whether it begins a line.
    let starts = (0..x.count()).filter(|at| (at / inner).is_multiple_of(extent));
    let places = starts.flat_map(|start| {
        (0..extent).map(move |step| {
            let place = if reverse { extent - 1 - step } else { step };
            (start + place * inner, step == 0)
        })
    });
    let shape = x.shape().to_vec();
    if x.dtype().is_float() {
        let elements = super::kernel::singles(x);
        let sums = partial(places, &elements, exclusive, |sum, own| sum + own);
        return one(super::kernel::numbers(x, shape, &sums));
    }
    let elements = crate::call::integers(x);
    let sums = partial(places, &elements, exclusive, i64::wrapping_add);
    one(whole::wrapped(x.dtype(), shape, &sums))
}

/// Returns the prefix sums; the element itself is excluded if `exclusive`.
fn partial<T: Copy + Default>(
    places: impl Iterator<Item = (usize, bool)>,
    elements: &[T],
    exclusive: bool,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut sums = vec![T::default(); elements.len()];
    let mut total = T::default();
    for (at, first) in places {
        if first {
            total = T::default();
        }
        let before = total;
        total = add(total, elements[at]);
        sums[at] = if exclusive { before } else { total };
    }
    sums
}

/// The position of the first extreme element along `axis`.
pub(crate) fn position(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axis = call
        .int("axis")
        .unwrap_or(-1)
        .rem_euclid(x.rank().max(1) as i64) as usize;
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let extent = x.shape()[axis];
    let elements = crate::call::floats(x);
    let better = |a: f64, b: f64| {
        if call.name == "reduce_argmax" {
            a > b
        } else {
            a < b
        }
    };
    let starts = (0..elements.len()).filter(|at| (at / inner).is_multiple_of(extent));
    let best = starts.map(|start| {
        (0..extent).fold(0, |best, step| {
            let (own, other) = (
                elements[start + step * inner],
                elements[start + best * inner],
            );
            if better(own, other) { step } else { best }
        })
    });
    let best: Vec<usize> = best.collect();
    let mut shape = x.shape().to_vec();
    if call.flag("keep_dims") {
        shape[axis] = 1;
    } else {
        shape.remove(axis);
    }
    one(match call.word("output_dtype") {
        "uint16" => Tensor::of(shape, best.into_iter().map(|at| at as u16).collect()),
        _ => Tensor::of(shape, best.into_iter().map(|at| at as i32).collect()),
    })
}
