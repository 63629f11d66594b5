//! Matrix products and other contractions.

use mind_core::ops::contract::stacked_product;
use mind_core::ops::shape::permuted;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::{ScalarFn, broadcast_extents};
use mind_ir::tensor::Tensor;

use super::kernel::{alike, number, one, operand, optional, scalar, stretched};
use super::normalize::softmax_along;
use crate::call::Call;

/// Transposes the last two dimensions.
fn flipped(cx: &EvalCx<'_>, x: &Tensor) -> Result<Tensor, EvalError> {
    let mut order: Vec<i64> = (0..x.rank() as i64).collect();
    let rank = order.len();
    order.swap(rank - 1, rank - 2);
    permuted(cx, x, &order)
}

/// Batched product of `[M, K]` and `[K, N]`, with broadcast batch dimensions, in the dtype of `x`.
fn product(cx: &EvalCx<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor, EvalError> {
    let y = &alike(cx, y, x)?;
    let (left, [m, k]) = stack(x);
    let (right, [inner, n]) = stack(y);
    if k != inner {
        let text = format!("the contracted extents must agree: {k} against {inner}");
        return Err(EvalError::Shape(text));
    }
    let batch = broadcast_extents(left, right)?;
    let x = stretched(cx, x, &[&batch[..], &[m, k]].concat())?;
    let y = stretched(cx, y, &[&batch[..], &[k, n]].concat())?;
    let count = cx.count(x.dtype(), &batch)?;
    let shape = [&batch[..], &[m, n]].concat();
    stacked_product(cx, &x, &y, shape, [count, m, k, n])
}

fn stack(x: &Tensor) -> (&[usize], [usize; 2]) {
    let (batch, matrix) = x.shape().split_at(x.rank() - 2);
    (batch, [matrix[0], matrix[1]])
}

/// `matmul`; vectors are matrices of one row or column.
pub(crate) fn matmul(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, y) = (operand(call, operands, "x"), operand(call, operands, "y"));
    let (row, column) = (x.rank() == 1, y.rank() == 1);
    let matrix = |tensor: &Tensor, name: &str, alone: Option<Vec<usize>>| match alone {
        Some(shape) => Ok(tensor.clone().with_shape(shape)),
        None if call.flag(name) => flipped(cx, tensor),
        None => Ok(tensor.clone()),
    };
    let left = matrix(x, "transpose_x", row.then(|| vec![1, x.count()]))?;
    let right = matrix(y, "transpose_y", column.then(|| vec![y.count(), 1]))?;
    let result = product(cx, &left, &right)?;
    let mut shape = result.shape().to_vec();
    if column {
        shape.pop();
    }
    if row {
        shape.remove(shape.len() - 1 - usize::from(!column));
    }
    one(result.with_shape(shape))
}

/// `linear`: `x` by the weight transposed, plus the bias.
pub(crate) fn linear(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let weight = flipped(cx, operand(call, operands, "weight"))?;
    let inner = *x.shape().last().unwrap_or(&1);
    let rows = x.count().checked_div(inner).unwrap_or(0);
    let flat = x.clone().with_shape(vec![rows, inner]);
    let mut result = product(cx, &flat, &weight)?;
    if let Some(bias) = optional(call, operands, "bias") {
        let bias = alike(cx, bias, &result)?;
        result = scalar(cx, ScalarFn::Add, &[&result, &bias])?;
    }
    let mut shape = x.shape().to_vec();
    shape.pop();
    shape.push(weight.shape()[1]);
    one(result.with_shape(shape))
}

/// The two supported equations.
pub(crate) fn einsum(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let start = call.index("values").unwrap_or(0);
    let (a, b) = (operands[start], operands[start + 1]);
    let (left, right, back): (&[i64], &[i64], &[i64]) = match a.rank() {
        4 => (&[0, 2, 1, 3], &[0, 2, 1, 3], &[0, 2, 1, 3]),
        _ => (&[1, 0, 2], &[1, 0, 2], &[1, 0, 2]),
    };
    let result = product(cx, &permuted(cx, a, left)?, &permuted(cx, b, right)?)?;
    one(permuted(cx, &result, back)?)
}

/// Scaled dot-product attention: scaled scores, mask, softmax, product with the values.
pub(crate) fn attention(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let [q, k, v] = ["query", "key", "value"].map(|name| operand(call, operands, name));
    let depth = *q.shape().last().unwrap_or(&1) as f64;
    let scores = product(cx, q, &flipped(cx, k)?)?;
    let scale = number(q, 1.0 / depth.sqrt());
    let mut scores = scalar(cx, ScalarFn::Mul, &[&scores, &scale])?;
    if let Some(mask) = optional(call, operands, "attn_mask") {
        let added = match mask.dtype() {
            mind_ir::types::DType::Bool => {
                let kept = crate::call::integers(mask).into_iter();
                let added: Vec<f32> = kept
                    .map(|kept| if kept != 0 { 0.0 } else { -3e4 })
                    .collect();
                super::kernel::rounded(q, mask.shape().to_vec(), &added)
            }
            _ => alike(cx, mask, q)?,
        };
        scores = scalar(cx, ScalarFn::Add, &[&scores, &added])?;
    }
    one(product(cx, &softmax_along(cx, &scores, -1)?, v)?)
}
