//! Overflow-checked integer arithmetic.

use mind_ir::eval::{EvalCx, EvalError, Overflow};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_int;

/// An integer of some dtype, or the overflow of a step that computed it.
#[derive(Clone, Copy)]
pub(crate) struct Checked {
    value: Option<i128>,
    dtype: DType,
}

impl Checked {
    /// Returns whether arithmetic in `dtype` has to be overflow-checked.
    pub(crate) fn applies(cx: &EvalCx<'_>, dtype: DType) -> bool {
        dtype.is_int() && cx.overflow == Overflow::Refuse
    }

    /// Creates an integer of `dtype`.
    pub(crate) fn of(value: i128, dtype: DType) -> Checked {
        Checked {
            value: Some(value),
            dtype,
        }
    }

    /// Returns the elements of a tensor of integers.
    ///
    /// # Errors
    ///
    /// E6004 too large.
    pub(crate) fn elements(cx: &EvalCx<'_>, tensor: &Tensor) -> Result<Vec<Checked>, EvalError> {
        cx.count(DType::I64, tensor.shape())?;
        let elements = integers(tensor).into_iter();
        Ok(elements.map(|x| Checked::of(x, tensor.dtype())).collect())
    }

    /// Returns the sum.
    pub(crate) fn add(self, rhs: Checked) -> Checked {
        self.step(rhs, i128::checked_add)
    }

    /// Returns the product.
    pub(crate) fn mul(self, rhs: Checked) -> Checked {
        self.step(rhs, i128::checked_mul)
    }

    /// Returns the integer.
    ///
    /// # Errors
    ///
    /// E6005 if any step overflowed.
    pub(crate) fn finish(self) -> Result<i128, EvalError> {
        self.value.ok_or(EvalError::Overflow)
    }

    fn step(self, rhs: Checked, exact: fn(i128, i128) -> Option<i128>) -> Checked {
        let value = match (self.value, rhs.value) {
            (Some(lhs), Some(rhs)) => exact(lhs, rhs),
            (None, _) | (_, None) => None,
        };
        let (least, most) = range(self.dtype);
        Checked {
            value: value.filter(|value| (least..=most).contains(value)),
            dtype: self.dtype,
        }
    }
}

/// Returns the smallest and the largest integer of a dtype; an empty range for floats and `bool`.
pub(crate) fn range(dtype: DType) -> (i128, i128) {
    with_int!(dtype, T => (i128::from(T::MIN), i128::from(T::MAX)), else (0, -1))
}

/// Returns the elements of a tensor of integers; an empty list for other dtypes.
pub(crate) fn integers(tensor: &Tensor) -> Vec<i128> {
    with_int!(tensor.dtype(), T => {
        tensor.elements::<T>().iter().map(|&x| i128::from(x)).collect()
    }, else Vec::new())
}

/// Creates a tensor from integers that are in the range of `dtype`.
pub(crate) fn tensor_of(dtype: DType, shape: Vec<usize>, integers: &[i128]) -> Tensor {
    with_int!(dtype, T => {
        Tensor::of(shape, integers.iter().map(|&x| T::from_i128(x)).collect())
    }, else unreachable!("the dtype is an integer's"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_sticks_although_the_sum_returns() {
        let [big, one, less] = [127, 1, -1].map(|x| Checked::of(x, DType::I8));
        assert_eq!(big.add(one).add(less).finish(), Err(EvalError::Overflow));
        assert_eq!(less.add(big.add(one)).finish(), Err(EvalError::Overflow));
        assert_eq!(big.add(less).finish(), Ok(126));
    }

    #[test]
    fn products_past_i128_overflow() {
        let big = Checked::of(i128::from(u64::MAX), DType::U64);
        assert_eq!(big.mul(big).finish(), Err(EvalError::Overflow));
        let one = Checked::of(1, DType::U64);
        assert_eq!(big.mul(one).finish(), Ok(i128::from(u64::MAX)));
    }
}
