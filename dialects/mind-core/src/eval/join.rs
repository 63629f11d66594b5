//! Evaluation of joining tensors and taking them apart.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Element, Tensor};
use mind_ir::with_dtype;

use super::strided::{self, strides_of};
use crate::axes;
use crate::ops::join::{Concat, Split};

/// The inputs one after the other along an axis.
pub(crate) fn eval_concat(
    op: Concat,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let mut shape = operands[0].shape().to_vec();
    let axis = axes::resolve("concat", op.axis(cx.graph), shape.len());
    let axis = axis.expect("a verified axis lies in the rank");
    for input in &operands[1..] {
        for (at, &extent) in input.shape().iter().enumerate() {
            if at == axis {
                let sum = shape[at]
                    .checked_add(extent)
                    .filter(|&sum| i64::try_from(sum).is_ok());
                shape[at] = sum.ok_or_else(|| {
                    let (first, found) = (operands[0].shape(), input.shape());
                    let text =
                        format!("`concat` of {first:?} and {found:?} has too large an extent");
                    EvalError::Shape(text)
                })?;
            } else if shape[at] != extent {
                let (first, found) = (operands[0].shape(), input.shape());
                let text = format!(
                    "extents of `concat` at dimension {at} must agree: {first:?} and {found:?}"
                );
                return Err(EvalError::Shape(text));
            }
        }
    }
    let count = cx.count(operands[0].dtype(), &shape)?;
    with_dtype!(operands[0].dtype(), T => {
        let elements = match count {
            0 => Vec::new(),
            _ => joined::<T>(operands, axis, count),
        };
        Ok(Tensor::of(shape, elements))
    })
}

fn joined<T: Element>(inputs: &[&Tensor], axis: usize, count: usize) -> Vec<T> {
    let stacks: usize = inputs[0].shape()[..axis].iter().product();
    let mut elements = Vec::with_capacity(count);
    for stack in 0..stacks {
        for input in inputs {
            let size = input.count() / stacks;
            elements.extend_from_slice(&input.elements::<T>()[stack * size..][..size]);
        }
    }
    elements
}

/// One of several equal pieces along an axis.
pub(crate) fn eval_split(
    op: Split,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, g) = (operands[0], cx.graph);
    let axis = axes::resolve("split", op.axis(g), input.rank());
    let axis = axis.expect("a verified axis lies in the rank");
    let (count, part) = (op.count(g) as usize, op.part(g) as usize);
    let extent = input.shape()[axis];
    if extent % count != 0 {
        let text = format!(
            "extent {extent} at dimension {axis} cannot be split into {count} equal pieces"
        );
        return Err(EvalError::Shape(text));
    }
    let size = extent / count;
    let strides = strides_of(input);
    let mut piece: Vec<strided::Axis> = input.shape().iter().copied().zip(strides).collect();
    let base = part * size * piece[axis].1;
    piece[axis].0 = size;
    strided::copy(cx, input, base, &piece)
}
