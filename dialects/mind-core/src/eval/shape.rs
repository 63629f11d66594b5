//! Evaluation of ops that only rearrange or rename dimensions.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;

use super::strided::{self, strides_of};
use crate::extent::text;
use crate::ops::shape::{ExpandDims, Reshape, Squeeze, Transpose, effective_permutation};

/// The same elements in another shape.
pub(crate) fn eval_reshape(
    op: Reshape,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, target) = (operands[0], op.new_shape(cx.graph));
    let (mut shape, mut open) = (Vec::with_capacity(target.len()), None);
    for &dim in target {
        let extent = cx
            .extent(dim)?
            .and_then(|extent| usize::try_from(extent).ok());
        if extent.is_none() {
            open = Some(shape.len());
        }
        shape.push(extent.unwrap_or(1));
    }
    let given = shape
        .iter()
        .try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let fits = match (given, open) {
        (Some(given), Some(axis)) if given > 0 && input.count() % given == 0 => {
            shape[axis] = input.count() / given;
            true
        }
        (given, None) => given == Some(input.count()),
        _ => false,
    };
    if !fits {
        let (from, to) = (input.shape(), text(cx.graph, target));
        let bound = match open {
            None => format!(", which is {shape:?} in this run"),
            Some(_) => String::new(),
        };
        let count = input.count();
        let message = format!(
            "reshape changes the element count: {from:?} has {count}, which {to} cannot hold{bound}"
        );
        return Err(EvalError::Shape(message));
    }
    renamed(cx, input, shape)
}

/// The dimensions in another order.
pub(crate) fn eval_transpose(
    op: Transpose,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let input = operands[0];
    let (shape, strides) = (input.shape(), strides_of(input));
    let permutation = effective_permutation(op.permutation(cx.graph), input.rank());
    let axes: Vec<strided::Axis> = permutation
        .iter()
        .map(|&axis| (shape[axis as usize], strides[axis as usize]))
        .collect();
    strided::copy(cx, input, 0, &axes)
}

/// New dimensions of extent 1.
pub(crate) fn eval_expand_dims(
    op: ExpandDims,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, axes) = (operands[0], op.axes(cx.graph));
    let rank = input.rank() + axes.len();
    let mut kept = input.shape().iter();
    let extent = |axis: usize| match axes.contains(&(axis as i64)) {
        true => 1,
        false => *kept
            .next()
            .expect("verified axes leave a place for each dimension"),
    };
    let shape: Vec<usize> = (0..rank).map(extent).collect();
    renamed(cx, input, shape)
}

/// Dimensions of extent 1 removed.
pub(crate) fn eval_squeeze(
    op: Squeeze,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, axes) = (operands[0], op.axes(cx.graph));
    let mut shape = Vec::with_capacity(input.rank());
    for (axis, &extent) in input.shape().iter().enumerate() {
        match axes.contains(&(axis as i64)) {
            false => shape.push(extent),
            true if extent == 1 => {}
            true => {
                let found = input.shape();
                let text = format!(
                    "axis {axis} of {found:?} cannot be squeezed: its extent is {extent}, not 1"
                );
                return Err(EvalError::Shape(text));
            }
        }
    }
    renamed(cx, input, shape)
}

/// A copy of `input` in a shape of as many elements.
fn renamed(cx: &EvalCx<'_>, input: &Tensor, shape: Vec<usize>) -> Result<Tensor, EvalError> {
    cx.count(input.dtype(), &shape)?;
    Ok(input.clone().with_shape(shape))
}
