//! Transposed convolutions.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::types::Dim;

use super::kernel::{one, operand, optional, rounded, singles};
use crate::call::Call;
use crate::infer::window::Windows;

/// `conv_transpose`: sums the kernel times each element of `x` where kernels overlap, and adds the bias last.
///
/// Sums run over the input channels of a group, then over the contributing positions of the kernel; each step is a
/// fused multiply-add in `f32`.
/// fused multiply-add in `f32`.
pub(crate) fn conv_transpose(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> EvalManyResult {
    let (x, weight) = (
        operand(call, operands, "x"),
        operand(call, operands, "weight"),
    );
    let bias = optional(call, operands, "bias").map(singles);
    let result = call.g.ty(call.g.result(call.op));
    let shape = result.static_shape().unwrap_or_default();
    let shape: Vec<usize> = shape
        .into_iter()
        .map(|extent| extent.max(0) as usize)
        .collect();
    if shape.len() != x.rank() || x.rank() < 3 || weight.rank() != x.rank() {
        return Err(EvalError::NotEvaluable("a convolution of open extents"));
    }
    let (extents, kernel) = (&x.shape()[2..], &weight.shape()[2..]);
    let dims: Vec<Dim> = extents
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64))
        .collect();
    let sizes: Vec<i64> = kernel.iter().map(|&size| size as i64).collect();
    let windows = Windows::of(call, &sizes, &dims);
    let windows = windows.map_err(|error| EvalError::Shape(error.to_string()))?;
    let (channels, each, groups) = (
        x.shape()[1],
        weight.shape()[1],
        call.int("groups").unwrap_or(1).max(1) as usize,
    );
    let inner = channels / groups;
    if shape[0] != x.shape()[0] || shape[1] != each * groups || inner * groups != channels {
        return Err(EvalError::Shape(format!(
            "{:?} is not what it spreads to",
            &shape
        )));
    }
    let total = cx.count(x.dtype(), &shape)?;
    let (plane, size): (usize, usize) = (extents.iter().product(), kernel.iter().product());
    let counts = &shape[2..];
    let cuts: Vec<i64> = (windows.axes.iter().zip(extents).zip(counts))
        .map(|((axis, &extent), &out)| axis.cut(call.word("pad_type"), extent as i64, out as i64))
        .collect();
    let (elements, factors) = (singles(x), singles(weight));
    let places: usize = counts.iter().product();
    let mut results = vec![0f32; total];
    let mut at = vec![0usize; counts.len()];
    for place in 0..places {
        let reads = reads(&windows, &cuts, &at, extents, kernel);
        for sample in 0..shape[0] {
            for o in 0..each * groups {
                let (group, own) = (o / each, o % each);
                let mut sum = 0f32;
                for c in group * inner..(group + 1) * inner {
                    for &(tap, offset) in &reads {
                        let factor = factors[(c * each + own) * size + tap];
                        sum =
                            elements[(sample * channels + c) * plane + offset].mul_add(factor, sum);
                    }
                }
                let bias = bias.as_ref().map_or(0.0, |bias| bias[o]);
                results[(sample * each * groups + o) * places + place] = sum + bias;
            }
        }
        advance(&mut at, counts);
    }
    one(rounded(x, shape, &results))
}

/// Returns the positions of the kernel that contribute to the result at `at`, each with the input offset in a plane.
fn reads(
    windows: &Windows,
    cuts: &[i64],
    at: &[usize],
    extents: &[usize],
    kernel: &[usize],
) -> Vec<(usize, usize)> {
    let strides = row_major(extents);
    let mut tap = vec![0usize; kernel.len()];
    let mut all = Vec::new();
    for position in 0..kernel.iter().product() {
        let mut offset = Some(0usize);
        for (dim, axis) in windows.axes.iter().enumerate() {
            let spread = at[dim] as i64 + cuts[dim] - tap[dim] as i64 * axis.dilation;
            let inside = spread >= 0
                && spread % axis.stride == 0
                && spread / axis.stride < extents[dim] as i64;
            offset = offset
                .filter(|_| inside)
                .map(|offset| offset + (spread / axis.stride) as usize * strides[dim]);
        }
        all.extend(offset.map(|offset| (position, offset)));
        advance(&mut tap, kernel);
    }
    all
}
