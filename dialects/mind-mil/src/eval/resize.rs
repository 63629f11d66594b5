//! Resizing, resampling and cropping.

use mind_core::eval::convert::cast;
use mind_core::eval::resize::{ResizedAxis, resize};
use mind_core::ops::sample::Layout;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::types::DType;

use super::kernel::{one, operand};
use super::place::picked;
use crate::call::{Call, integers};
use crate::infer::sample::{dimensions, filter, grid};

/// Resizes as core's `Resize` does.
pub(crate) fn resized(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let target = target(call, operands, x)?;
    let filter = filter(call).map_err(|error| EvalError::Shape(error.to_string()))?;
    let axes = dimensions(call, x.rank()).map(|dimension| ResizedAxis {
        dimension,
        extent: x.shape()[dimension],
        size: target[dimension],
        scale: None,
        region: [0.0, 1.0],
    });
    let axes: Vec<ResizedAxis> = axes.collect();
    one(resize(cx, &filter, &axes, x)?)
}

/// Samples images at coordinates as core's `GridSample` does.
pub(crate) fn resample(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let (sampling, from_zero) = grid(call).map_err(|error| EvalError::Shape(error.to_string()))?;
    let mut places = cast(cx, operand(call, operands, "coordinates"), DType::F32)?;
    if from_zero {
        let doubled = places
            .elements::<f32>()
            .iter()
            .map(|place| place * 2.0 - 1.0);
        places = Tensor::of(places.shape().to_vec(), doubled.collect::<Vec<f32>>());
    }
    one(sampling.sample(cx, Layout::Nchw, x, &places)?)
}

/// Returns the extents of the result.
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

/// Crops the last two dimensions at both ends.
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
