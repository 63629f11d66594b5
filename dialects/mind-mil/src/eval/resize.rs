//! Height and width of other extents.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};

use super::kernel::{numbers, one, operand};
use super::place::picked;
use crate::call::{Call, floats, integers};
use crate::infer::sample::axes;

/// Elements between those of `x`, along one axis after the other from the last, in `f32`, rounded once; of integers
/// in `f64`, which holds them exactly.
pub(crate) fn resized(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let target = target(call, operands, x)?;
    cx.count(x.dtype(), &target)?;
    let (mut shape, mut elements) = (x.shape().to_vec(), floats(x));
    let singles = x.dtype().is_float();
    let along = axes(call, x.shape(), &target);
    let along = along.map_err(|error| EvalError::Shape(error.to_string()))?;
    for (dim, samples) in along.into_iter().rev() {
        let inner: usize = shape[dim + 1..].iter().product();
        let mut new = Vec::with_capacity(elements.len() / shape[dim] * samples.len());
        for slice in elements.chunks_exact(shape[dim] * inner) {
            for own in &samples {
                for at in 0..inner {
                    let [low, high] = [own.low, own.high].map(|row| slice[row * inner + at]);
                    new.push(match own.part {
                        0.0 => low,
                        part if singles => {
                            let (low, high) = (low as f32, high as f32);
                            f64::from(high.mul_add(part, low * (1.0 - part)))
                        }
                        part => high.mul_add(f64::from(part), low * f64::from(1.0 - part)),
                    });
                }
            }
        }
        shape[dim] = samples.len();
        elements = new;
    }
    one(numbers(x, shape, &elements))
}

/// The extents of the result.
fn target(call: &Call<'_>, operands: &[&Tensor], x: &Tensor) -> Result<Vec<usize>, EvalError> {
    let mut target = x.shape().to_vec();
    if call.name == "resize" {
        let list = integers(operand(call, operands, "shape"));
        let resized = call.int("resized_dims").unwrap_or(0).max(0) as usize;
        let from = list
            .len()
            .checked_sub(resized)
            .filter(|_| resized <= target.len());
        let named =
            &list[from.ok_or_else(|| EvalError::Shape("too many dimensions".to_owned()))?..];
        let first = target.len() - resized;
        for (extent, &new) in target[first..].iter_mut().zip(named) {
            match usize::try_from(new) {
                Ok(0) => {}
                Ok(new) => *extent = new,
                Err(_) => return Err(EvalError::Shape(format!("an extent of {new}"))),
            }
        }
        return Ok(target);
    }
    let result = call.g.ty(call.g.result(call.op)).static_shape();
    let result = result.ok_or(EvalError::NotEvaluable("an image of open extents"))?;
    Ok(result
        .into_iter()
        .map(|extent| extent.max(0) as usize)
        .collect())
}

/// The last two dimensions, cut at both ends.
pub(crate) fn crop(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let front = |name: &str| {
        let cuts = call.ints(name).known().unwrap_or_default();
        cuts.first().map_or(0, |&cut| cut.max(0) as usize)
    };
    let result = call.g.ty(call.g.result(call.op)).static_shape();
    let shape = result.ok_or(EvalError::NotEvaluable("an image of open extents"))?;
    let shape: Vec<usize> = shape
        .into_iter()
        .map(|extent| extent.max(0) as usize)
        .collect();
    let mut starts = vec![0; x.rank()];
    let first = x.rank() - 2;
    (starts[first], starts[first + 1]) = (front("crop_height"), front("crop_width"));
    let past = |dim: usize| starts[dim] + shape[dim] > x.shape()[dim];
    if shape.len() != x.rank() || (0..x.rank()).any(past) {
        return Err(EvalError::Shape(format!(
            "{:?} is not cut to {shape:?}",
            x.shape()
        )));
    }
    let count = cx.count(x.dtype(), &shape)?;
    let strides = row_major(x.shape());
    let mut index = vec![0usize; shape.len()];
    let mut offsets = Vec::with_capacity(count);
    for _ in 0..count {
        let places = index.iter().zip(&starts).map(|(at, start)| at + start);
        offsets.push(places.zip(&strides).map(|(at, stride)| at * stride).sum());
        advance(&mut index, &shape);
    }
    one(picked(x, shape, &offsets))
}
