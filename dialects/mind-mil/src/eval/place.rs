//! Gathers elements by index.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::with_dtype;

use super::kernel::{numbers, one, operand, optional};
use super::ranges::known_ranges;
use crate::call::{Call, floats, integers};
use crate::infer::slice::Range;

/// Returns the elements of `x` at `offsets`, in `shape`.
pub(crate) fn picked(x: &Tensor, shape: Vec<usize>, offsets: &[usize]) -> Tensor {
    with_dtype!(x.dtype(), T => {
        let elements = x.elements::<T>();
        Tensor::of(shape, offsets.iter().map(|&offset| elements[offset]).collect::<Vec<T>>())
    })
}

/// Returns the non-negative position of `index` along an axis of `extent`; a negative index counts from the end.
pub(crate) fn inside(index: i64, axis: usize, extent: usize) -> Result<usize, EvalError> {
    let own = if index < 0 {
        index + extent as i64
    } else {
        index
    };
    let place = usize::try_from(own).ok().filter(|&place| place < extent);
    place.ok_or(EvalError::IndexOutOfBounds {
        index,
        axis,
        extent,
    })
}

/// Gathers slices at `indices`, separately for each of the leading batch dimensions.
pub(crate) fn batched(
    cx: &EvalCx<'_>,
    x: &Tensor,
    indices: &Tensor,
    axis: usize,
    batch: usize,
) -> Result<Tensor, EvalError> {
    let shape = [
        &x.shape()[..axis],
        &indices.shape()[batch..],
        &x.shape()[axis + 1..],
    ]
    .concat();
    let count = cx.count(x.dtype(), &shape)?;
    let strides = row_major(x.shape());
    let index_strides = row_major(indices.shape());
    let (places, extent) = (integers(indices), x.shape()[axis]);
    let own = indices.rank() - batch;
    let mut index = vec![0usize; shape.len()];
    let mut offsets = Vec::with_capacity(count);
    for _ in 0..count {
        let in_batch = index[..batch]
            .iter()
            .zip(&index_strides)
            .map(|(at, stride)| at * stride);
        let in_list = index[axis..axis + own]
            .iter()
            .zip(&index_strides[batch..])
            .map(|(at, stride)| at * stride);
        let place = inside(places[in_batch.chain(in_list).sum::<usize>()], axis, extent)?;
        let before = index[..axis]
            .iter()
            .zip(&strides)
            .map(|(at, stride)| at * stride);
        let behind = index[axis + own..]
            .iter()
            .zip(&strides[axis + 1..])
            .map(|(at, stride)| at * stride);
        offsets.push(before.chain(behind).sum::<usize>() + place * strides[axis]);
        advance(&mut index, &shape);
    }
    Ok(picked(x, shape, &offsets))
}

/// Gathers slices at the index tuples in the last dimension of `indices`.
pub(crate) fn nd(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, indices) = (
        operand(call, operands, "x"),
        operand(call, operands, "indices"),
    );
    let batch = call.int("batch_dims").unwrap_or(0).max(0) as usize;
    let depth = indices.shape().last().copied().unwrap_or(0);
    let outer = &indices.shape()[..indices.rank().saturating_sub(1)];
    if outer.len() < batch || batch + depth > x.rank() || outer[..batch] != x.shape()[..batch] {
        return Err(EvalError::Shape("`indices` do not fit `x`".to_owned()));
    }
    let inner = &x.shape()[batch + depth..];
    let shape = [outer, inner].concat();
    cx.count(x.dtype(), &shape)?;
    let strides = row_major(x.shape());
    let width: usize = inner.iter().product();
    let mut index = vec![0usize; outer.len()];
    let mut offsets = Vec::new();
    for place in integers(indices).chunks_exact(depth.max(1)) {
        let mut start: usize = index[..batch]
            .iter()
            .zip(&strides)
            .map(|(at, stride)| at * stride)
            .sum();
        for (at, &place) in place.iter().enumerate() {
            start += inside(place, batch + at, x.shape()[batch + at])? * strides[batch + at];
        }
        offsets.extend(start..start + width);
        advance(&mut index, outer);
    }
    one(picked(x, shape, &offsets))
}

/// One-hot vectors of each index along a new dimension, with the values 1 and 0 or the two given.
pub(crate) fn one_hot(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let indices = operand(call, operands, "indices");
    let size = integers(operand(call, operands, "one_hot_vector_size"))[0];
    let size =
        usize::try_from(size).map_err(|_| EvalError::Shape(format!("a vector of {size}")))?;
    let rank = indices.rank() as i64 + 1;
    let axis = call.int("axis").unwrap_or(-1).rem_euclid(rank) as usize;
    let mut shape = indices.shape().to_vec();
    shape.insert(axis, size);
    let [off, on] = [("off_value", 0), ("on_value", 1)].map(|(name, none)| {
        optional(call, operands, name)
            .cloned()
            .unwrap_or(Tensor::scalar::<i32>(none))
    });
    cx.count(on.dtype(), &shape)?;
    let inner: usize = indices.shape()[axis..].iter().product();
    let places = integers(indices);
    let chosen = (0..shape.iter().product::<usize>()).map(|at| {
        let (outer, rest) = (at / (size * inner), at % (size * inner));
        let own = places[outer * inner + rest % inner];
        let own = if own < 0 { own + size as i64 } else { own };
        own == (rest / inner) as i64
    });
    let [off, number] = [&off, &on].map(|value| floats(value)[0]);
    let elements = chosen.map(|chosen| if chosen { number } else { off });
    one(numbers(&on, shape, &elements.collect::<Vec<f64>>()))
}

/// Replaces a slice of `x` by `update`.
pub(crate) fn update(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, update) = (
        operand(call, operands, "x"),
        operand(call, operands, "update"),
    );
    let ranges = known_ranges(call, operands, x)?;
    let whole: Vec<usize> = ranges.iter().map(|range| range.count as usize).collect();
    if whole.iter().product::<usize>() != update.count() {
        return Err(EvalError::Shape(format!(
            "{:?} does not fill {whole:?}",
            update.shape()
        )));
    }
    cx.count(x.dtype(), x.shape())?;
    let strides = row_major(x.shape());
    let mut index = vec![0usize; whole.len()];
    one(with_dtype!(x.dtype(), T => {
        let mut elements = x.elements::<T>().to_vec();
        for &element in update.elements::<T>() {
            let place = |(at, range): (&usize, &Range)| (range.start + *at as i64 * range.step) as usize;
            let places = index.iter().zip(&ranges).map(place);
            let offset: usize = places.zip(&strides).map(|(place, stride)| place * stride).sum();
            elements[offset] = element;
            advance(&mut index, &whole);
        }
        Tensor::of(x.shape().to_vec(), elements)
    }))
}

/// Keeps a band around the diagonal of the last two dimensions; a negative bound keeps that whole side.
pub(crate) fn band(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let bound = |name: &str| {
        call.int(name)
            .filter(|&bound| bound >= 0)
            .unwrap_or(i64::MAX)
    };
    let (lower, upper) = (bound("lower"), bound("upper"));
    let [rows, columns] = match x.shape() {
        [.., rows, columns] => [*rows, *columns],
        _ => return Err(EvalError::Shape("it takes rank 2 or more".to_owned())),
    };
    cx.count(x.dtype(), x.shape())?;
    one(with_dtype!(x.dtype(), T => {
        let kept = x.elements::<T>().iter().enumerate().map(|(at, &element)| {
            let below = (at / columns % rows) as i64 - (at % columns) as i64;
            if below <= lower && -below <= upper { element } else { T::default() }
        });
        Tensor::of(x.shape().to_vec(), kept.collect::<Vec<T>>())
    }))
}
