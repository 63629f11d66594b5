//! Evaluation of ops that read parts of a tensor.

use mind_ir::attr::OPEN_END;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Buffer, Element, Tensor};
use mind_ir::with_dtype;

use super::strided::{self, strides_of};
use crate::axes;
use crate::ops::index::{Gather, Index, Slice, range_len};

/// The single element at the indices.
pub(crate) fn eval_index(
    op: Index,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, indices) = (operands[0], op.indices(cx.graph));
    let pairs = indices.iter().zip(input.shape()).enumerate();
    let positions: Result<Vec<usize>, EvalError> = pairs
        .map(|(axis, (&index, &extent))| position(index, axis, extent))
        .collect();
    let offset = positions?
        .iter()
        .zip(strides_of(input))
        .map(|(at, stride)| at * stride)
        .sum();
    strided::copy(cx, input, offset, &[])
}

/// The elements in a range of every axis.
pub(crate) fn eval_slice(
    op: Slice,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, g) = (operands[0], cx.graph);
    let (starts, ends, steps) = (op.starts(g), op.ends(g), op.steps(g));
    let strides = strides_of(input);
    let (mut base, mut parts) = (0, Vec::with_capacity(input.rank()));
    for (axis, &extent) in input.shape().iter().enumerate() {
        let (start, end, step) = (starts[axis], ends[axis], steps[axis]);
        let end = match end {
            OPEN_END => extent as i64,
            end if end <= extent as i64 => end,
            end => {
                let text = format!(
                    "slice bounds {start}:{end} do not fit dimension {axis} of extent {extent}"
                );
                return Err(EvalError::Shape(text));
            }
        };
        // Bounds and steps are multiplied only where they lie inside the tensor.
        let len = range_len(start, end, step) as usize;
        base += if len > 0 {
            start as usize * strides[axis]
        } else {
            0
        };
        parts.push((
            len,
            if len > 1 {
                step as usize * strides[axis]
            } else {
                0
            },
        ));
    }
    strided::copy(cx, input, base, &parts)
}

/// The slices along an axis at indices.
pub(crate) fn eval_gather(
    op: Gather,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, indices) = (operands[0], operands[1]);
    let axis = axes::resolve("gather", op.axis(cx.graph), data.rank());
    let axis = axis.expect("a verified axis lies in the rank");
    let (before, extent, after) = (
        &data.shape()[..axis],
        data.shape()[axis],
        &data.shape()[axis + 1..],
    );
    let index = |index: i64| position(index, axis, extent);
    let positions: Result<Vec<usize>, EvalError> = match indices.buffer() {
        Buffer::I32(list) => list.iter().map(|&at| index(at.into())).collect(),
        Buffer::I64(list) => list.iter().map(|&at| index(at)).collect(),
        _ => unreachable!("verified indices are i32 or i64"),
    };
    let (positions, shape) = (positions?, [before, indices.shape(), after].concat());
    let count = cx.count(data.dtype(), &shape)?;
    with_dtype!(data.dtype(), T => {
        let elements = match count {
            0 => Vec::new(),
            _ => gathered(data.elements::<T>(), extent, after.iter().product(), &positions, count),
        };
        Ok(Tensor::of(shape, elements))
    })
}

/// From every stack of `extent` slices of `size` elements, the slices at `positions`.
fn gathered<T: Element>(
    data: &[T],
    extent: usize,
    size: usize,
    positions: &[usize],
    count: usize,
) -> Vec<T> {
    let mut elements = Vec::with_capacity(count);
    for stack in data.chunks_exact(extent * size) {
        for &position in positions {
            elements.extend_from_slice(&stack[position * size..][..size]);
        }
    }
    elements
}

/// `index` as a position on an axis. A negative index lies outside.
fn position(index: i64, axis: usize, extent: usize) -> Result<usize, EvalError> {
    let inside = usize::try_from(index).ok().filter(|&at| at < extent);
    inside.ok_or(EvalError::IndexOutOfBounds {
        index,
        axis,
        extent,
    })
}
