//! Element-wise copies through a computed offset for each index.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Buffer, Element, Tensor, advance};
use mind_ir::with_dtype;

/// Returns the offset of the element at an index; `None` if no element is read.
pub(crate) type OffsetAt<'a> = dyn FnMut(&[usize]) -> Result<Option<usize>, EvalError> + 'a;

/// Gathers a tensor of `shape`: each index has the element of `input` at `offset(index)`, or 0 for `None`.
///
/// # Errors
///
/// Those of `offset`, E6004 a result too large.
pub(crate) fn picked(
    cx: &EvalCx<'_>,
    input: &Tensor,
    shape: Vec<usize>,
    mut offset: impl FnMut(&[usize]) -> Result<Option<usize>, EvalError>,
) -> Result<Tensor, EvalError> {
    let zero = Tensor::new(Vec::new(), Buffer::zeros(input.dtype(), 1));
    picked_or(cx, input, &zero, shape, &mut offset)
}

/// Like [`picked`], with the element of the scalar `other` for `None`.
///
/// # Errors
///
/// Those of [`picked`].
pub(crate) fn picked_or(
    cx: &EvalCx<'_>,
    input: &Tensor,
    other: &Tensor,
    shape: Vec<usize>,
    offset: &mut OffsetAt<'_>,
) -> Result<Tensor, EvalError> {
    let count = cx.count(input.dtype(), &shape)?;
    with_dtype!(input.dtype(), T => {
        let other = other.elements::<T>()[0];
        let elements = elements_at(input.elements::<T>(), other, &shape, count, offset)?;
        Ok(Tensor::of(shape, elements))
    })
}

/// Returns `input`, with the element at each index replaced by the element of `update` at `offset(index)`, except for
/// `None`.
///
/// # Errors
///
/// E6004 too large.
pub(crate) fn merged(
    cx: &EvalCx<'_>,
    input: &Tensor,
    update: &Tensor,
    mut offset: impl FnMut(&[usize]) -> Option<usize>,
) -> Result<Tensor, EvalError> {
    let shape = input.shape().to_vec();
    cx.count(input.dtype(), &shape)?;
    with_dtype!(input.dtype(), T => {
        let (mut elements, updates) = (input.elements::<T>().to_vec(), update.elements::<T>());
        let mut index = vec![0; shape.len()];
        for element in &mut elements {
            if let Some(at) = offset(&index) {
                *element = updates[at];
            }
            advance(&mut index, &shape);
        }
        Ok(Tensor::of(shape, elements))
    })
}

fn elements_at<T: Element>(
    elements: &[T],
    other: T,
    shape: &[usize],
    count: usize,
    offset: &mut OffsetAt<'_>,
) -> Result<Vec<T>, EvalError> {
    let mut picked = Vec::with_capacity(count);
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        picked.push(offset(&index)?.map_or(other, |at| elements[at]));
        advance(&mut index, shape);
    }
    Ok(picked)
}
