//! Integer arithmetic that notices overflow.

use mind_ir::eval::EvalError;
use mind_ir::tensor::Num;

/// An integer, and whether some step that led to it left its dtype.
#[derive(Clone, Copy)]
pub(crate) struct Checked<T> {
    value: T,
    overflowed: bool,
}

impl<T: Num> Checked<T> {
    /// Zero.
    pub(crate) const ZERO: Checked<T> = Checked {
        value: T::ZERO,
        overflowed: false,
    };

    /// A given integer.
    pub(crate) fn of(value: T) -> Checked<T> {
        Checked {
            value,
            overflowed: false,
        }
    }

    /// Sum.
    pub(crate) fn add(self, rhs: Checked<T>) -> Checked<T> {
        let exact = self.exact().checked_add(rhs.exact());
        self.step(rhs, self.value.add(rhs.value), exact)
    }

    /// Product.
    pub(crate) fn mul(self, rhs: Checked<T>) -> Checked<T> {
        let exact = self.exact().checked_mul(rhs.exact());
        self.step(rhs, self.value.mul(rhs.value), exact)
    }

    /// The integer.
    ///
    /// # Errors
    ///
    /// E6005 when a step overflowed.
    pub(crate) fn finish(self) -> Result<T, EvalError> {
        if self.overflowed {
            Err(EvalError::Overflow)
        } else {
            Ok(self.value)
        }
    }

    fn exact(self) -> i128 {
        self.value
            .to_i128()
            .expect("checked arithmetic is for integers")
    }

    fn step(self, rhs: Checked<T>, value: T, exact: Option<i128>) -> Checked<T> {
        let overflowed = self.overflowed || rhs.overflowed || value.to_i128() != exact;
        Checked { value, overflowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_sticks_although_the_wrapped_value_returns() {
        let (big, one) = (Checked::of(i8::MAX), Checked::of(1));
        let back = big.add(one).add(Checked::of(-1));
        assert_eq!(back.finish(), Err(EvalError::Overflow));
        assert_eq!(big.add(Checked::of(-1)).finish(), Ok(126));
    }

    #[test]
    fn products_past_i128_overflow() {
        let big = Checked::of(u64::MAX);
        assert_eq!(big.mul(big).finish(), Err(EvalError::Overflow));
        assert_eq!(big.mul(Checked::of(1)).finish(), Ok(u64::MAX));
    }
}
