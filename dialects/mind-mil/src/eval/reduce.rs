//! Reductions along axes.

use mind_core::eval::reduce::{Along, max, mean, sum};
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{Tensor, advance, broadcast_strides};

use super::kernel::{map, one, operand, scalar};
use crate::call::{Call, Given};

/// The reduction that the op is named for.
pub(crate) fn reduce(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axes = match call.ints("axes") {
        Given::Known(axes) => axes,
        _ => (0..x.rank() as i64).collect(),
    };
    let rank = x.rank() as i64;
    let reduced: Vec<bool> = (0..rank)
        .map(|at| axes.contains(&at) || axes.contains(&(at - rank)))
        .collect();
    let keep = call.flag("keep_dims");
    let along = Along::new(reduced.clone(), keep);
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
            map(cx, &sum(cx, &squares, &along)?, f32::sqrt)?
        }
        "reduce_log_sum" => apply(ScalarFn::Log, &sum(cx, x, &along)?)?,
        "reduce_prod" => product(cx, x, &reduced, keep)?,
        "reduce_log_sum_exp" => log_sum_exp(cx, x, reduced, keep)?,
        other => unreachable!("`{other}` is no reduction"),
    })
}

/// The product of the elements along the axes, one after the other in `f64`, rounded once.
fn product(cx: &EvalCx<'_>, x: &Tensor, reduced: &[bool], keep: bool) -> Result<Tensor, EvalError> {
    let thin = x.shape().iter().zip(reduced);
    let thin: Vec<usize> = thin
        .map(|(&extent, &reduced)| if reduced { 1 } else { extent })
        .collect();
    let count = cx.count(x.dtype(), &thin)?;
    let strides = broadcast_strides(&thin, x.shape());
    let mut products = vec![1f64; count];
    let mut index = vec![0usize; x.rank()];
    for element in crate::call::floats(x) {
        let places = index.iter().zip(&strides);
        products[places.map(|(at, stride)| at * stride).sum::<usize>()] *= element;
        advance(&mut index, x.shape());
    }
    let kept = thin.iter().zip(reduced);
    let kept = kept.filter(|(_, reduced)| keep || !**reduced);
    let shape = kept.map(|(&extent, _)| extent).collect();
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
    let largest = max(cx, x, &Along::new(reduced.clone(), true))?;
    let shifted = scalar(cx, ScalarFn::Sub, &[x, &largest])?;
    let powers = scalar(cx, ScalarFn::Exp, &[&shifted])?;
    let total = sum(cx, &powers, &Along::new(reduced, keep))?;
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
    let elements = super::kernel::singles(x);
    let mut sums = vec![0f32; elements.len()];
    for start in (0..elements.len()).filter(|at| (at / inner).is_multiple_of(extent)) {
        let mut total = 0f32;
        for step in 0..extent {
            let step = if reverse { extent - 1 - step } else { step };
            let at = start + step * inner;
            if exclusive {
                sums[at] = total;
            }
            total += elements[at];
            if !exclusive {
                sums[at] = total;
            }
        }
    }
    one(super::kernel::numbers(x, x.shape().to_vec(), &sums))
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
    match call.flag("keep_dims") {
        true => shape[axis] = 1,
        false => drop(shape.remove(axis)),
    }
    one(match call.word("output_dtype") {
        "uint16" => Tensor::of(shape, best.into_iter().map(|at| at as u16).collect()),
        _ => Tensor::of(shape, best.into_iter().map(|at| at as i32).collect()),
    })
}
