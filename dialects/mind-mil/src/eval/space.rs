//! Space-to-batch, batch-to-space, sequence reversal and sliding windows.

use mind_core::ops::shape::permuted;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};

use super::kernel::{one, operand};
use super::place::picked;
use crate::call::{Call, integers};

/// Returns the extents of a block, and the crops or paddings of height and width.
fn block(call: &Call<'_>, around: &str) -> Option<([usize; 2], [usize; 4])> {
    let list = |name: &str| -> Option<Vec<usize>> {
        let entries = call.ints(name).known()?;
        entries
            .into_iter()
            .map(|own| usize::try_from(own).ok())
            .collect()
    };
    let sizes: [usize; 2] = list("block_shape")?.try_into().ok()?;
    Some((sizes, list(around)?.try_into().ok()?))
}

fn misfit(x: &Tensor) -> EvalError {
    EvalError::Shape(format!("{:?} has no such blocks", x.shape()))
}

/// Moves blocks from the batch to space, then crops.
pub(crate) fn from_batch(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let (Some(([p, q], crops)), &[n, c, h, w]) = (block(call, "crops"), x.shape()) else {
        return Err(misfit(x));
    };
    let blocks = p.checked_mul(q).filter(|&all| all > 0 && n % all == 0);
    let outer = n / blocks.ok_or_else(|| misfit(x))?;
    let apart = x.clone().with_shape(vec![p, q, outer, c, h, w]);
    let whole = permuted(cx, &apart, &[2, 3, 4, 0, 5, 1])?;
    let whole = whole.with_shape(vec![outer, c, h * p, w * q]);
    let left = |extent: usize, ends: &[usize]| extent.checked_sub(ends[0].checked_add(ends[1])?);
    let (Some(height), Some(width)) = (left(h * p, &crops[..2]), left(w * q, &crops[2..])) else {
        return Err(misfit(x));
    };
    let kept = vec![outer, c, height, width];
    one(window(&whole, kept, [crops[0], crops[2]]))
}

/// Returns the part of `x` with `shape` whose height and width begin at `start`.
fn window(x: &Tensor, shape: Vec<usize>, start: [usize; 2]) -> Tensor {
    let strides = row_major(x.shape());
    let mut index = vec![0usize; shape.len()];
    let mut offsets = Vec::with_capacity(shape.iter().product());
    for _ in 0..shape.iter().product() {
        let places = [index[0], index[1], index[2] + start[0], index[3] + start[1]];
        offsets.push(
            places
                .iter()
                .zip(&strides)
                .map(|(at, stride)| at * stride)
                .sum(),
        );
        advance(&mut index, &shape);
    }
    picked(x, shape, &offsets)
}

/// Pads height and width with zeros, then moves blocks to the batch.
pub(crate) fn to_batch(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let (Some(([p, q], pads)), &[n, c, h, w]) = (block(call, "paddings"), x.shape()) else {
        return Err(misfit(x));
    };
    let padded = |extent: usize, ends: &[usize]| extent.checked_add(ends[0])?.checked_add(ends[1]);
    let (Some(height), Some(width)) = (padded(h, &pads[..2]), padded(w, &pads[2..])) else {
        return Err(misfit(x));
    };
    if p == 0 || q == 0 || height % p != 0 || width % q != 0 {
        return Err(misfit(x));
    }
    let shape = vec![n, c, height, width];
    cx.count(x.dtype(), &shape)?;
    let strides = row_major(&shape);
    let mut whole = vec![0f32; shape.iter().product()];
    let mut index = vec![0usize; 4];
    for element in super::kernel::singles(x) {
        let places = [index[0], index[1], index[2] + pads[0], index[3] + pads[2]];
        let at: usize = places
            .iter()
            .zip(&strides)
            .map(|(at, stride)| at * stride)
            .sum();
        whole[at] = element;
        advance(&mut index, x.shape());
    }
    let whole = super::kernel::rounded(x, vec![n, c, height / p, p, width / q, q], &whole);
    let apart = permuted(cx, &whole, &[3, 5, 0, 1, 2, 4])?;
    one(apart.with_shape(vec![n * p * q, c, height / p, width / q]))
}

/// Reverses the first elements along one axis; `lengths` has their number for each position of another axis.
pub(crate) fn reverse(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, lengths) = (
        operand(call, operands, "x"),
        operand(call, operands, "lengths"),
    );
    let axis = |name: &str| -> Result<usize, EvalError> {
        let own = call.axis(call.int(name).unwrap_or(0), x.rank());
        own.map_err(|error| EvalError::Shape(error.to_string()))
    };
    let (sequence, batch) = (axis("seq_axis")?, axis("batch_axis")?);
    let (lengths, extent) = (integers(lengths), x.shape()[sequence]);
    if lengths.len() != x.shape()[batch] {
        let problem = format!(
            "{} lengths for {} sequences",
            lengths.len(),
            x.shape()[batch]
        );
        return Err(EvalError::Shape(problem));
    }
    cx.count(x.dtype(), x.shape())?;
    let strides = row_major(x.shape());
    let mut index = vec![0usize; x.rank()];
    let mut offsets = Vec::with_capacity(x.count());
    for at in 0..x.count() {
        let length = usize::try_from(lengths[index[batch]])
            .unwrap_or(0)
            .min(extent);
        let step = index[sequence];
        offsets.push(if step < length {
            at - step * strides[sequence] + (length - 1 - step) * strides[sequence]
        } else {
            at
        });
        advance(&mut index, x.shape());
    }
    one(picked(x, x.shape().to_vec(), &offsets))
}

/// Returns the windows of `size` along `axis`.
pub(crate) fn sliding(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axis = call.axis(call.int("axis").unwrap_or(0), x.rank());
    let axis = axis.map_err(|error| EvalError::Shape(error.to_string()))?;
    let positive = |name: &str, default: i64| {
        let own = usize::try_from(call.int(name).unwrap_or(default)).ok();
        own.filter(|&own| own > 0).ok_or_else(|| misfit(x))
    };
    let (size, stride) = (positive("size", 1)?, positive("stride", 1)?);
    let room = x.shape()[axis].checked_sub(size).ok_or_else(|| misfit(x))?;
    let windows = [
        &x.shape()[..axis],
        &[room / stride + 1, size],
        &x.shape()[axis + 1..],
    ]
    .concat();
    cx.count(x.dtype(), &windows)?;
    let strides = row_major(x.shape());
    let mut index = vec![0usize; windows.len()];
    let mut offsets = Vec::with_capacity(windows.iter().product());
    for _ in 0..windows.iter().product() {
        let outer = index[..axis]
            .iter()
            .zip(&strides)
            .map(|(at, stride)| at * stride);
        let inner = index[axis + 2..].iter().zip(&strides[axis + 1..]);
        let inner = inner.map(|(at, stride)| at * stride);
        let place = index[axis] * stride + index[axis + 1];
        offsets.push(outer.chain(inner).sum::<usize>() + place * strides[axis]);
        advance(&mut index, &windows);
    }
    one(picked(x, windows, &offsets))
}
