//! Depth-to-space, sorting, and generated tensors.

use std::cmp::Ordering;

use mind_core::ops::shape::permuted;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Buffer, Tensor, row_major};
use mind_ir::with_dtype;

use super::kernel::{numbers, one, operand, singles};
use crate::call::{Call, floats, integers};

/// The four ops that exchange channels for height and width, by name.
pub(crate) fn blocks(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let names = ["block_size", "upscale_factor", "downscale_factor"];
    let factor = names
        .iter()
        .find_map(|name| call.int(name))
        .unwrap_or(1)
        .max(1) as usize;
    let [n, c, h, w] = *x.shape() else {
        return Err(EvalError::Shape("it takes rank 4".to_owned()));
    };
    let (split, order, joined): ([usize; 6], [i64; 6], [usize; 4]) = match call.name {
        "depth_to_space" => {
            let inner = c / (factor * factor);
            (
                [n, factor, factor, inner, h, w],
                [0, 3, 4, 1, 5, 2],
                [n, inner, h * factor, w * factor],
            )
        }
        "pixel_shuffle" => {
            let inner = c / (factor * factor);
            (
                [n, inner, factor, factor, h, w],
                [0, 1, 4, 2, 5, 3],
                [n, inner, h * factor, w * factor],
            )
        }
        name => {
            let outer = [n, c * factor * factor, h / factor, w / factor];
            let split = [n, c, h / factor, factor, w / factor, factor];
            match name {
                "space_to_depth" => (split, [0, 3, 5, 1, 2, 4], outer),
                "pixel_unshuffle" => (split, [0, 1, 3, 5, 2, 4], outer),
                other => unreachable!("`{other}` is evaluated elsewhere"),
            }
        }
    };
    if split.iter().product::<usize>() != x.count() {
        return Err(EvalError::Shape(format!(
            "{:?} has no blocks of {factor}",
            x.shape()
        )));
    }
    let apart = x.clone().with_shape(split.to_vec());
    one(permuted(cx, &apart, &order)?.with_shape(joined.to_vec()))
}

/// The order of core's `Sort`: -0 equals +0, and all NaNs are equal and greater than every number.
fn compared(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Returns the `k` largest or smallest elements along `axis` and their indices; ties are in index order.
pub(crate) fn topk(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axis = call
        .int("axis")
        .unwrap_or(-1)
        .rem_euclid(x.rank().max(1) as i64) as usize;
    let k = call.int("k").unwrap_or(1).max(0) as usize;
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let extent = x.shape()[axis];
    let elements = floats(x);
    let mut shape = x.shape().to_vec();
    shape[axis] = k.min(extent);
    let count: usize = shape.iter().product();
    let (mut values, mut places) = (vec![0f64; count], vec![0f64; count]);
    for outer in 0..elements.len() / (inner * extent).max(1) {
        for step in 0..inner {
            let element = |at: usize| elements[(outer * extent + at) * inner + step];
            let mut order: Vec<usize> = (0..extent).collect();
            order.sort_by(|&a, &b| {
                if call.flag("ascending") {
                    compared(element(a), element(b))
                } else {
                    compared(element(b), element(a))
                }
            });
            for (rank, &at) in order.iter().take(shape[axis]).enumerate() {
                let to = (outer * shape[axis] + rank) * inner + step;
                (values[to], places[to]) = (element(at), at as f64);
            }
        }
    }
    let results = call.g.results(call.op);
    let mut tensors = vec![numbers(x, shape.clone(), &values)];
    if results.len() > 1 {
        let dtype = call.g.ty(results.get(1)).dtype;
        let like = Tensor::new(vec![0], Buffer::zeros(dtype, 0));
        tensors.push(numbers(&like, shape, &places));
    }
    Ok(tensors.into_iter().collect())
}

/// Returns the permutation that sorts `axis` in ascending or descending order; ties are in index order.
pub(crate) fn argsort(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let rank = x.rank().max(1) as i64;
    let axis = call.int("axis").unwrap_or(-1).rem_euclid(rank) as usize;
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let (elements, extent) = (floats(x), x.shape()[axis]);
    let mut places = vec![0i32; elements.len()];
    for start in (0..elements.len()).filter(|at| (at / inner).is_multiple_of(extent)) {
        let element = |at: usize| elements[start + at * inner];
        let mut order: Vec<usize> = (0..extent).collect();
        order.sort_by(|&a, &b| {
            if call.flag("ascending") {
                compared(element(a), element(b))
            } else {
                compared(element(b), element(a))
            }
        });
        for (rank, at) in order.into_iter().enumerate() {
            places[start + rank * inner] = at as i32;
        }
    }
    one(Tensor::of(x.shape().to_vec(), places))
}

/// One value everywhere, in the shape of another tensor.
pub(crate) fn fill_like(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let shape = operand(call, operands, "ref_tensor").shape().to_vec();
    let zero = Tensor::scalar(0f32);
    let value = super::kernel::optional(call, operands, "value").unwrap_or(&zero);
    let count = cx.count(value.dtype(), &shape)?;
    one(Tensor::new(shape, value.buffer().splat(count)))
}

/// One value everywhere.
pub(crate) fn fill(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let shape = integers(operand(call, operands, "shape")).into_iter();
    let shape: Vec<usize> = shape
        .map(|extent| usize::try_from(extent).unwrap_or(0))
        .collect();
    let zero = Tensor::scalar(0f32);
    let value = super::kernel::optional(call, operands, "value").unwrap_or(&zero);
    let count = cx.count(value.dtype(), &shape)?;
    one(Tensor::new(shape, value.buffer().splat(count)))
}

/// The numbers from `start` to below `end`.
pub(crate) fn range(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let number = |name: &str| floats(operand(call, operands, name))[0];
    let (start, end, step) = (number("start"), number("end"), number("step"));
    let count = ((end - start) / step).ceil();
    if !(0.0..1e9).contains(&count) {
        return Err(EvalError::Shape(format!(
            "no numbers from {start} to {end} by {step}"
        )));
    }
    let like = operand(call, operands, "start");
    cx.count(like.dtype(), &[count as usize])?;
    let rounds = like.dtype().is_float();
    let element = |at: usize| {
        let element = start + at as f64 * step;
        if rounds {
            f64::from(element as f32)
        } else {
            element
        }
    };
    let elements: Vec<f64> = (0..count as usize).map(element).collect();
    one(numbers(like, vec![count as usize], &elements))
}

/// The extents of `x`.
pub(crate) fn shape(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let dtype = call.g.ty(call.g.result(call.op)).dtype;
    let like = Tensor::new(vec![0], Buffer::zeros(dtype, 0));
    let extents: Vec<f64> = x.shape().iter().map(|&extent| extent as f64).collect();
    one(numbers(&like, vec![x.rank()], &extents))
}

/// Computes `scale (data - offset)`, with a scale along an axis or per block.
pub(crate) fn dequantized(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> EvalManyResult {
    let data = match call.index("quantized_data") {
        Some(index) => operands[index],
        None => operand(
            call,
            operands,
            if call.name == "dequantize" {
                "input"
            } else {
                "data"
            },
        ),
    };
    let scale = operand(call, operands, "scale");
    let offset = ["zero_point", "offset"]
        .iter()
        .find_map(|name| super::kernel::optional(call, operands, name));
    let axis = call
        .int("axis")
        .map(|axis| axis.rem_euclid(data.rank().max(1) as i64) as usize);
    cx.count(scale.dtype(), data.shape())?;
    let (scales, offsets) = (singles(scale), offset.map(singles));
    let place = |factor: &Tensor, index: &[usize]| -> usize {
        match (
            factor.count(),
            factor.rank() == data.rank() && factor.rank() > 1,
        ) {
            (1, _) => 0,
            (_, true) => index.iter().enumerate().fold(0, |at, (dim, &step)| {
                let block = (data.shape()[dim] / factor.shape()[dim]).max(1);
                at * factor.shape()[dim] + step / block
            }),
            _ => axis.map_or(0, |axis| index[axis]),
        }
    };
    let mut index = vec![0usize; data.rank()];
    let mut elements = singles(data);
    for element in &mut elements {
        let own = |list: &[f32], factor: &Tensor| list[place(factor, &index).min(list.len() - 1)];
        let shift = match (&offsets, offset) {
            (Some(list), Some(factor)) => own(list, factor),
            _ => 0.0,
        };
        *element = own(&scales, scale) * (*element - shift);
        mind_ir::tensor::advance(&mut index, data.shape());
    }
    one(numbers(scale, data.shape().to_vec(), &elements))
}

/// Returns the table entries at `indices`, from one table or from one per block.
pub(crate) fn lut(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (indices, lut) = (
        operand(call, operands, "indices"),
        operand(call, operands, "lut"),
    );
    let result = call.g.ty(call.g.result(call.op));
    let shape: Option<Vec<usize>> = result
        .shape
        .iter()
        .map(|dim| usize::try_from(dim.fixed()?).ok())
        .collect();
    let Some(shape) = shape else {
        return Err(EvalError::NotEvaluable("a table of open extents"));
    };
    let count = cx.count(lut.dtype(), &shape)?;
    let bytes = integers(indices);
    let places = match call.index("shape") {
        Some(_) => packed_places(&bytes, lut.count(), count)?,
        None => {
            let axis = call.int("vector_axis");
            let axis = axis.map(|axis| axis.rem_euclid(shape.len().max(1) as i64) as usize);
            vector_places(&bytes, indices.shape(), lut.shape(), axis, &shape)?
        }
    };
    one(with_dtype!(lut.dtype(), T => {
        let table = lut.elements::<T>();
        Tensor::of(shape, places.into_iter().map(|place| table[place]).collect::<Vec<T>>())
    }))
}

/// Unpacks `count` indices, lowest bits first; their width is given by the number of table entries.
fn packed_places(bytes: &[i64], entries: usize, count: usize) -> Result<Vec<usize>, EvalError> {
    if !entries.is_power_of_two() {
        let problem = format!("a table of {entries} entries is of no whole number of bits");
        return Err(EvalError::Shape(problem));
    }
    let bits = entries.trailing_zeros() as usize;
    let entry = |at: usize| {
        (0..bits).fold(0usize, |entry, bit| {
            let place = at * bits + bit;
            let byte = bytes.get(place / 8).copied().unwrap_or(0) as usize;
            entry | (byte >> (place % 8) & 1) << bit
        })
    };
    Ok((0..count).map(entry).collect())
}

/// Returns the offsets of the table entries of `lut` for each position of `shape`. There is one table per block of the
/// indices, and entries are vectors along `axis`.
fn vector_places(
    indices: &[i64],
    extents: &[usize],
    lut: &[usize],
    axis: Option<usize>,
    shape: &[usize],
) -> Result<Vec<usize>, EvalError> {
    let [tables @ .., entries, width] = lut else {
        return Err(EvalError::Shape("a table without entries".to_owned()));
    };
    if *width != 1 && axis.is_none() {
        let problem = "a table of vectors needs `vector_axis`";
        return Err(EvalError::Shape(problem.to_owned()));
    }
    let strides = row_major(extents);
    let mut index = vec![0usize; shape.len()];
    let mut places = Vec::with_capacity(shape.iter().product());
    for _ in 0..shape.iter().product() {
        let mut own = index.clone();
        let part = axis.map_or(0, |axis| own[axis] % width);
        if let Some(axis) = axis {
            own[axis] /= width;
        }
        let at: usize = own
            .iter()
            .zip(&strides)
            .map(|(step, stride)| step * stride)
            .sum();
        let entry = indices
            .get(at)
            .and_then(|&entry| usize::try_from(entry).ok());
        let entry = entry.filter(|entry| entry < entries);
        let entry = entry.ok_or_else(|| EvalError::Shape("an index past the table".to_owned()))?;
        let table = super::quantize::block(&own, extents, tables);
        places.push((table * entries + entry) * width + part);
        mind_ir::tensor::advance(&mut index, shape);
    }
    Ok(places)
}
