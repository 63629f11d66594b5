//! Contractions: the choice of the accumulator, and rounding of the sums to the result.

use std::borrow::Cow;

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::with_num;

use super::chain::Accumulator;
use super::checked::{self, Checked};

/// Receives the sums of one row of the result.
pub(crate) type Emit<'e, A> = &'e mut dyn FnMut(&[A]) -> Result<(), EvalError>;

/// A contraction of two tensors with known extents.
pub(crate) trait Contraction {
    /// The shape of the result. [`Self::sums`] is only called if it has elements.
    fn shape(&self) -> &[usize];

    /// Passes the sums of each row of the result to `emit`, each a chain from `zero`, and stops at the first error.
    fn sums<A: Accumulator>(
        &self,
        zero: A,
        lhs: &[A],
        rhs: &[A],
        emit: Emit<'_, A>,
    ) -> Result<(), EvalError>;
}

/// Evaluates a contraction: accumulates in the accumulator of the dtype and rounds once at the end.
///
/// # Errors
///
/// E6004 too large, E6005 integer overflow where `cx` rejects it.
pub(crate) fn evaluate(
    cx: &EvalCx<'_>,
    contraction: &impl Contraction,
    lhs: &Tensor,
    rhs: &Tensor,
) -> Result<Tensor, EvalError> {
    let (dtype, shape) = (lhs.dtype(), contraction.shape().to_vec());
    let count = cx.count(dtype, &shape)?;
    if count > 0 && Checked::applies(cx, dtype) {
        let mut elements = Vec::with_capacity(count);
        let zero = Checked::of(0, dtype);
        let (lhs, rhs) = (Checked::elements(cx, lhs)?, Checked::elements(cx, rhs)?);
        contraction.sums(zero, &lhs, &rhs, &mut |sums| {
            for sum in sums {
                elements.push(sum.finish()?);
            }
            Ok(())
        })?;
        return Ok(checked::tensor_of(dtype, shape, &elements));
    }
    with_num!(dtype, T => {
        let mut elements: Vec<T> = Vec::with_capacity(count);
        if count > 0 {
            let (lhs, rhs) = (widened::<T>(cx, lhs)?, widened::<T>(cx, rhs)?);
            contraction.sums(<T as Num>::Acc::ZERO, &lhs, &rhs, &mut |sums| {
                elements.extend(sums.iter().map(|&sum| T::narrow(sum)));
                Ok(())
            })?;
        }
        Ok(Tensor::of(shape, elements))
    }, else {
        unreachable!("verified operands are numeric")
    })
}

/// Converts the elements to the accumulator type; copies only if that is a different type.
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
