//! Chains along one axis that keep every step.

use mind_ir::eval::{EvalCx, EvalError, Overflow};
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::with_num;

use super::checked::Checked;
use super::reduce::Reduction;

mind_ir::words! {
    /// What the elements up to a place are combined to.
    pub enum Accumulation {
        /// Their sum.
        Sum = "sum",
        /// Their product.
        Prod = "prod",
        /// The largest one.
        Max = "max",
        /// The smallest one.
        Min = "min",
    }
}

impl Accumulation {
    /// The reduction whose steps it keeps.
    pub const fn reduction(self) -> Reduction {
        match self {
            Accumulation::Sum => Reduction::Sum,
            Accumulation::Prod => Reduction::Prod,
            Accumulation::Max => Reduction::Max,
            Accumulation::Min => Reduction::Min,
        }
    }
}

/// Two numbers combined.
type Step<A> = fn(A, A) -> A;

/// What is accumulated along an axis, and what of it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Prefixes {
    /// How elements are combined.
    pub kind: Accumulation,
    /// Whether an element is left out at its own place, where the chain so far stands.
    pub exclusive: bool,
    /// Whether the chain runs from the last element to the first.
    pub reverse: bool,
}

impl Prefixes {
    /// Those of `input` along `axis`: a chain from the identity in the accumulator, each step rounded to the dtype where
    /// it is kept.
    ///
    /// # Errors
    ///
    /// E6004 too large, E6005 integer overflow where that is refused.
    pub fn of(self, cx: &EvalCx<'_>, input: &Tensor, axis: usize) -> Result<Tensor, EvalError> {
        with_num!(input.dtype(), T => self.typed::<T>(cx, input, axis), else {
            unreachable!("verified operands are numeric")
        })
    }

    fn typed<T: Num>(
        self,
        cx: &EvalCx<'_>,
        input: &Tensor,
        axis: usize,
    ) -> Result<Tensor, EvalError> {
        let refuses = cx.overflow == Overflow::Refuse && !T::IS_FLOAT;
        let (zero, one) = (T::Acc::ZERO, T::Acc::ONE);
        match self.kind {
            Accumulation::Sum if refuses => self.checked::<T>(cx, input, axis, zero, Checked::add),
            Accumulation::Prod if refuses => self.checked::<T>(cx, input, axis, one, Checked::mul),
            Accumulation::Sum => self.rounded::<T>(cx, input, axis, zero, T::Acc::add),
            Accumulation::Prod => self.rounded::<T>(cx, input, axis, one, T::Acc::mul),
            Accumulation::Max => {
                self.rounded::<T>(cx, input, axis, T::Acc::LOWEST, T::Acc::maximum)
            }
            Accumulation::Min => {
                self.rounded::<T>(cx, input, axis, T::Acc::HIGHEST, T::Acc::minimum)
            }
        }
    }

    fn rounded<T: Num>(
        self,
        cx: &EvalCx<'_>,
        input: &Tensor,
        axis: usize,
        identity: T::Acc,
        combine: Step<T::Acc>,
    ) -> Result<Tensor, EvalError> {
        let step = |sum, x: T| combine(sum, x.widen());
        self.run(cx, input, axis, identity, step, |sum| Ok(T::narrow(sum)))
    }

    fn checked<T: Num>(
        self,
        cx: &EvalCx<'_>,
        input: &Tensor,
        axis: usize,
        identity: T::Acc,
        combine: Step<Checked<T::Acc>>,
    ) -> Result<Tensor, EvalError> {
        let step = |sum, x: T| combine(sum, Checked::of(x.widen()));
        let identity = Checked::of(identity);
        self.run(cx, input, axis, identity, step, |sum| {
            Ok(T::narrow(sum.finish()?))
        })
    }

    fn run<T: Num, A: Copy>(
        self,
        cx: &EvalCx<'_>,
        input: &Tensor,
        axis: usize,
        identity: A,
        step: impl Fn(A, T) -> A,
        kept: impl Fn(A) -> Result<T, EvalError>,
    ) -> Result<Tensor, EvalError> {
        let shape = input.shape().to_vec();
        let count = cx.count(T::DTYPE, &shape)?;
        let elements = input.elements::<T>();
        let mut prefixes = vec![T::ZERO; count];
        if count == 0 {
            return Ok(Tensor::of(shape, prefixes));
        }
        let (extent, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        for line in 0..count / extent {
            let start = line / inner * extent * inner + line % inner;
            let mut sum = identity;
            for index in 0..extent {
                let index = if self.reverse {
                    extent - 1 - index
                } else {
                    index
                };
                let (at, before) = (start + index * inner, sum);
                sum = step(sum, elements[at]);
                prefixes[at] = kept(if self.exclusive { before } else { sum })?;
            }
        }
        Ok(Tensor::of(shape, prefixes))
    }
}
