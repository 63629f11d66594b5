//! Convolutions and pooling.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::types::Dim;

use super::kernel::{one, operand, optional, rounded, singles};
use crate::call::{ArgState, Call};
use crate::infer::window::Windows;

fn windows(
    call: &Call<'_>,
    kernel: &[usize],
    extents: &[usize],
) -> Result<(Windows, Vec<usize>), EvalError> {
    let dims: Vec<Dim> = extents
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64))
        .collect();
    let kernel: Vec<i64> = kernel.iter().map(|&size| size as i64).collect();
    let windows =
        Windows::of(call, &kernel, &dims).map_err(|error| EvalError::Shape(error.to_string()))?;
    let counts = windows.counts(&dims);
    let counts = counts
        .iter()
        .map(|dim| dim.fixed().unwrap_or(0).max(0) as usize);
    Ok((windows, counts.collect()))
}

/// Returns for each position of the kernel the offset in a plane that the window at `at` reads; `None` in the padding.
fn taps(windows: &Windows, at: &[usize], extents: &[usize]) -> Vec<Option<usize>> {
    let kernel: Vec<usize> = windows
        .axes
        .iter()
        .map(|axis| axis.kernel as usize)
        .collect();
    let strides = row_major(extents);
    let mut tap = vec![0usize; kernel.len()];
    let mut all = Vec::with_capacity(kernel.iter().product());
    loop {
        let mut offset = Some(0usize);
        for (dim, axis) in windows.axes.iter().enumerate() {
            let place =
                at[dim] as i64 * axis.stride + tap[dim] as i64 * axis.dilation - axis.pads[0];
            let inside = (0..extents[dim] as i64).contains(&place);
            offset = offset
                .filter(|_| inside)
                .map(|offset| offset + place as usize * strides[dim]);
        }
        all.push(offset);
        if !advance(&mut tap, &kernel) || tap.iter().all(|&step| step == 0) {
            return all;
        }
    }
}

/// `conv`: one chain of fused multiply-adds over the kernel, then the channels; the bias is added last.
pub(crate) fn conv(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, weight) = (
        operand(call, operands, "x"),
        operand(call, operands, "weight"),
    );
    let bias = optional(call, operands, "bias").map(singles);
    let (extents, kernel) = (&x.shape()[2..], &weight.shape()[2..]);
    let (windows, counts) = windows(call, kernel, extents)?;
    let (batch, channels) = (x.shape()[0], x.shape()[1]);
    let (out, inner) = (weight.shape()[0], weight.shape()[1]);
    let shape = [&[batch, out], &counts[..]].concat();
    let total = cx.count(x.dtype(), &shape)?;
    let (plane, size): (usize, usize) = (extents.iter().product(), kernel.iter().product());
    let per_group = out / (channels / inner).max(1);
    let (elements, factors) = (singles(x), singles(weight));
    let places: usize = counts.iter().product();
    let mut results = vec![0f32; total];
    let mut at = vec![0usize; counts.len()];
    for place in 0..places {
        let taps = taps(&windows, &at, extents);
        for sample in 0..batch {
            for o in 0..out {
                let first = o / per_group.max(1) * inner;
                let mut sum = 0f32;
                for (tap, offset) in taps.iter().enumerate() {
                    for c in 0..inner {
                        let read = offset.map_or(0.0, |offset| {
                            elements[(sample * channels + first + c) * plane + offset]
                        });
                        sum = read.mul_add(factors[(o * inner + c) * size + tap], sum);
                    }
                }
                let bias = bias.as_ref().map_or(0.0, |bias| bias[o]);
                results[(sample * out + o) * places + place] = sum + bias;
            }
        }
        advance(&mut at, &counts);
    }
    one(rounded(x, shape, &results))
}

/// `max_pool`, `avg_pool` and `l2_pool`.
pub(crate) fn pool(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let ArgState::Known(kernel) = call.ints("kernel_sizes") else {
        return Err(EvalError::NotEvaluable("a pool of a runtime size"));
    };
    let kernel: Vec<usize> = kernel.iter().map(|&size| size.max(0) as usize).collect();
    let extents = &x.shape()[2..];
    let (windows, counts) = windows(call, &kernel, extents)?;
    let shape = [&x.shape()[..2], &counts[..]].concat();
    let total = cx.count(x.dtype(), &shape)?;
    let (plane, places): (usize, usize) = (extents.iter().product(), counts.iter().product());
    let elements = singles(x);
    let mut results = vec![0f32; total];
    let mut at = vec![0usize; counts.len()];
    for place in 0..places {
        let taps = taps(&windows, &at, extents);
        for channel in 0..x.shape()[0] * x.shape()[1] {
            let read = taps
                .iter()
                .flatten()
                .map(|offset| elements[channel * plane + offset]);
            results[channel * places + place] = match call.name {
                "max_pool" => read.fold(f32::NEG_INFINITY, |most, x| {
                    // NaN is kept, because no element is greater.
                    if x > most || x.is_nan() { x } else { most }
                }),
                "l2_pool" => read.map(|own| own * own).sum::<f32>().sqrt(),
                _ => {
                    let exclude = call.flag("exclude_padding_from_average");
                    let count = if exclude {
                        taps.iter().flatten().count()
                    } else {
                        taps.len()
                    };
                    read.sum::<f32>() / count as f32
                }
            };
        }
        advance(&mut at, &counts);
    }
    one(rounded(x, shape, &results))
}
