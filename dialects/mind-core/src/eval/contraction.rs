//! Contractions: the accumulators they run in and how their sums become a tensor.

use std::borrow::Cow;

use mind_ir::eval::{EvalCx, EvalError, Overflow};
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::with_num;

use super::chain::Accumulator;
use super::checked::Checked;

/// A contraction of two tensors whose extents are settled.
pub(crate) trait Contraction {
    /// The shape of the result, which is not empty when [`Self::sums`] is called.
    fn shape(&self) -> &[usize];

    /// Gives `emit` the sums of the result row by row, and stops at its first error.
    fn sums<A: Accumulator>(
        &self,
        lhs: &[A],
        rhs: &[A],
        emit: impl FnMut(&[A]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError>;
}

/// The result of a contraction: accumulated in the dtype's accumulator, rounded once at the end.
///
/// # Errors
///
/// E6004 too large, E6005 integer overflow where that is refused.
pub(crate) fn evaluate(
    cx: &EvalCx<'_>,
    contraction: &impl Contraction,
    lhs: &Tensor,
    rhs: &Tensor,
) -> Result<Tensor, EvalError> {
    with_num!(lhs.dtype(), T => evaluate_as::<T>(cx, contraction, lhs, rhs), else {
        unreachable!("verified operands are numeric")
    })
}

fn evaluate_as<T: Num>(
    cx: &EvalCx<'_>,
    contraction: &impl Contraction,
    lhs: &Tensor,
    rhs: &Tensor,
) -> Result<Tensor, EvalError> {
    let shape = contraction.shape().to_vec();
    let count = cx.count(T::DTYPE, &shape)?;
    let mut elements: Vec<T> = Vec::with_capacity(count);
    if count == 0 {
        return Ok(Tensor::of(shape, elements));
    }
    if T::IS_FLOAT || cx.overflow == Overflow::Wrap {
        let (lhs, rhs) = (widened::<T>(cx, lhs)?, widened::<T>(cx, rhs)?);
        contraction.sums::<T::Acc>(&lhs, &rhs, |sums| {
            elements.extend(sums.iter().map(|&sum| T::narrow(sum)));
            Ok(())
        })?;
    } else {
        contraction.sums(&checked::<T>(lhs), &checked::<T>(rhs), |sums| {
            for sum in sums {
                elements.push(sum.finish()?);
            }
            Ok(())
        })?;
    }
    Ok(Tensor::of(shape, elements))
}

/// The elements in the accumulator's type, copied only where that is another one.
fn widened<'t, T: Num>(
    cx: &EvalCx<'_>,
    tensor: &'t Tensor,
) -> Result<Cow<'t, [T::Acc]>, EvalError> {
    if let Some(elements) = T::Acc::peek(tensor.buffer()) {
        return Ok(Cow::Borrowed(elements));
    }
    cx.count(T::Acc::DTYPE, tensor.shape())?;
    Ok(Cow::Owned(
        tensor.elements::<T>().iter().map(|x| x.widen()).collect(),
    ))
}

fn checked<T: Num>(tensor: &Tensor) -> Vec<Checked<T>> {
    tensor
        .elements::<T>()
        .iter()
        .map(|&x| Checked::of(x))
        .collect()
}
