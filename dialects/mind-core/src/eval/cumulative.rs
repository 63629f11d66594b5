//! Prefix operations (scans) along one axis.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::with_num;

use super::checked::{self, Checked};
use super::reduce::Reduction;

mind_ir::words! {
    /// The operation that combines a prefix.
    pub enum Accumulation {
        /// Sum.
        Sum = "sum",
        /// Product.
        Prod = "prod",
        /// Maximum.
        Max = "max",
        /// Minimum.
        Min = "min",
    }
}

impl Accumulation {
    /// Returns the reduction with the same combining function.
    pub const fn reduction(self) -> Reduction {
        match self {
            Accumulation::Sum => Reduction::Sum,
            Accumulation::Prod => Reduction::Prod,
            Accumulation::Max => Reduction::Max,
            Accumulation::Min => Reduction::Min,
        }
    }
}

/// Combines two numbers.
type Step<A> = fn(A, A) -> A;

/// A prefix operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Prefixes {
    /// How elements are combined.
    pub kind: Accumulation,
    /// Whether the prefix of an element excludes the element itself.
    pub exclusive: bool,
    /// Whether the chain runs from the last element to the first.
    pub reverse: bool,
}

impl Prefixes {
    /// Computes the prefixes of `input` along `axis`: a chain in the accumulator from the identity, each step rounded
    /// to the dtype when it is stored.
    ///
    /// # Errors
    ///
    /// E6004 too large, E6005 integer overflow where `cx` rejects it.
    pub fn of(self, cx: &EvalCx<'_>, input: &Tensor, axis: usize) -> Result<Tensor, EvalError> {
        let dtype = input.dtype();
        let sums = matches!(self.kind, Accumulation::Sum | Accumulation::Prod);
        if sums && Checked::applies(cx, dtype) {
            return self.checked(cx, input, axis);
        }
        with_num!(dtype, T => self.rounded::<T>(cx, input, axis), else {
            unreachable!("verified operands are numeric")
        })
    }

    fn rounded<T: Num>(
        self,
        cx: &EvalCx<'_>,
        input: &Tensor,
        axis: usize,
    ) -> Result<Tensor, EvalError> {
        cx.count(T::DTYPE, input.shape())?;
        let (identity, combine): (T::Acc, Step<T::Acc>) = match self.kind {
            Accumulation::Sum => (T::Acc::ZERO, T::Acc::add),
            Accumulation::Prod => (T::Acc::ONE, T::Acc::mul),
            Accumulation::Max => (T::Acc::LOWEST, T::Acc::maximum),
            Accumulation::Min => (T::Acc::HIGHEST, T::Acc::minimum),
        };
        let elements = input.elements::<T>();
        let mut prefixes = vec![T::ZERO; elements.len()];
        let mut chain = identity;
        self.walk(input.shape(), axis, &mut |at, is_first| {
            let before = if is_first { identity } else { chain };
            chain = combine(before, elements[at].widen());
            prefixes[at] = T::narrow(if self.exclusive { before } else { chain });
            Ok(())
        })?;
        Ok(Tensor::of(input.shape().to_vec(), prefixes))
    }

    /// Computes a sum or product of integers with overflow checks.
    fn checked(self, cx: &EvalCx<'_>, input: &Tensor, axis: usize) -> Result<Tensor, EvalError> {
        let dtype = input.dtype();
        let (identity, combine): (i128, Step<Checked>) = match self.kind {
            Accumulation::Prod => (1, Checked::mul),
            Accumulation::Sum | Accumulation::Max | Accumulation::Min => (0, Checked::add),
        };
        let identity = Checked::of(identity, dtype);
        let elements = Checked::elements(cx, input)?;
        let mut prefixes = vec![0; elements.len()];
        let mut chain = identity;
        self.walk(input.shape(), axis, &mut |at, is_first| {
            let before = if is_first { identity } else { chain };
            chain = combine(before, elements[at]);
            prefixes[at] = if self.exclusive { before } else { chain }.finish()?;
            Ok(())
        })?;
        Ok(checked::tensor_of(dtype, input.shape().to_vec(), &prefixes))
    }

    /// Calls `step` for each element of each line along `axis`, in the order of the chains, with its offset and whether
    /// it is the first of its chain.
    ///
    /// # Errors
    ///
    /// The first error of `step`.
    fn walk(
        self,
        shape: &[usize],
        axis: usize,
        step: &mut dyn FnMut(usize, bool) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        if shape.contains(&0) {
            return Ok(());
        }
        let count: usize = shape.iter().product();
        let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        for line in 0..count / extent {
            let start = line / inner * extent * inner + line % inner;
            for taken in 0..extent {
                let index = if self.reverse {
                    extent - 1 - taken
                } else {
                    taken
                };
                step(start + index * inner, taken == 0)?;
            }
        }
        Ok(())
    }
}
