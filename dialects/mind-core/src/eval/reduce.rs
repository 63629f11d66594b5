//! Reductions in the order of docs/numerics.md.

use super::checked::Checked;
use super::lanes::Lanes;
use super::strided::{Axis, Space, strides_of};
use crate::axes;
use mind_ir::eval::{EvalCx, EvalError, Overflow};
pub use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::with_num;

/// The reduction of `input` along axes.
///
/// # Errors
///
/// Those of [`sum`], [`mean`], [`max`], [`min`] and [`prod`].
pub fn reduce(
    kind: Reduction,
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &Along,
) -> Result<Tensor, EvalError> {
    match kind {
        Reduction::Sum => sum(cx, input, along),
        Reduction::Mean => mean(cx, input, along),
        Reduction::Max => max(cx, input, along),
        Reduction::Min => min(cx, input, along),
        Reduction::Prod => prod(cx, input, along),
    }
}

/// The axes of a reduction.
pub struct Along {
    reduced: Vec<bool>,
    keepdims: bool,
}

impl Along {
    /// The axes marked in `reduced`, one entry per dimension, kept with extent 1 or removed.
    pub fn new(reduced: Vec<bool>, keepdims: bool) -> Along {
        Along { reduced, keepdims }
    }

    /// The axes of a list, of which none means all, removed whatever `keepdims` says.
    pub(crate) fn listed(axes: &[i64], keepdims: bool, rank: usize) -> Along {
        let reduced =
            axes::reduced("a reduction", axes, rank).expect("verified axes lie in the rank");
        Along {
            reduced,
            keepdims: keepdims && !axes.is_empty(),
        }
    }

    /// One axis, kept with extent 1.
    pub(crate) fn kept(axis: usize, rank: usize) -> Along {
        Along {
            reduced: (0..rank).map(|at| at == axis).collect(),
            keepdims: true,
        }
    }

    fn shape(&self, input: &[usize]) -> Vec<usize> {
        let extents = input.iter().zip(&self.reduced);
        let kept = extents.filter_map(|(&extent, &reduced)| {
            if reduced {
                self.keepdims.then_some(1)
            } else {
                Some(extent)
            }
        });
        kept.collect()
    }

    /// The space of the dimensions that are reduced, or of those that are not.
    fn space(&self, input: &Tensor, reduced: bool) -> Space {
        let strides = strides_of(input);
        let axes = input
            .shape()
            .iter()
            .copied()
            .zip(strides)
            .zip(&self.reduced);
        Space::new(
            axes.filter(|&(_, &named)| named == reduced)
                .map(|(axis, _)| -> Axis { axis }),
        )
    }
}

/// Sum along axes.
///
/// # Errors
///
/// E6004 too large, E6005 integer overflow where that is refused.
pub fn sum(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => sum_as::<T>(cx, input, along), else not_numeric())
}

/// Mean along axes: the sum divided before it is rounded to the dtype.
///
/// # Errors
///
/// As [`sum`]; E6005 over no element, for integers.
pub fn mean(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => mean_as::<T>(cx, input, along), else not_numeric())
}

/// Product along axes.
///
/// # Errors
///
/// As [`sum`].
pub fn prod(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => prod_as::<T>(cx, input, along), else not_numeric())
}

/// Maximum along axes; of truth values, whether any is true.
///
/// # Errors
///
/// E6004 too large.
pub fn max(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => extreme(cx, input, along, T::LOWEST, <T as Num>::maximum), else {
        extreme(cx, input, along, false, |x, y| x | y)
    })
}

/// Minimum along axes; of truth values, whether all are true.
///
/// # Errors
///
/// E6004 too large.
pub fn min(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => extreme(cx, input, along, T::HIGHEST, <T as Num>::minimum), else {
        extreme(cx, input, along, true, |x, y| x & y)
    })
}

fn not_numeric() -> Result<Tensor, EvalError> {
    unreachable!("verified operands are numeric")
}

fn sum_as<T: Num>(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    let (shape, sums) = sums::<T>(cx, input, along)?;
    Ok(Tensor::of(shape, sums.into_iter().map(T::narrow).collect()))
}

fn mean_as<T: Num>(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    let (shape, sums) = sums::<T>(cx, input, along)?;
    let count = input.count().checked_div(sums.len()).unwrap_or(0);
    let means: Result<Vec<T>, EvalError> = sums
        .into_iter()
        .map(|sum| Ok(T::narrow(quotient(sum, count)?)))
        .collect();
    Ok(Tensor::of(shape, means?))
}

fn prod_as<T: Num>(cx: &EvalCx<'_>, input: &Tensor, along: &Along) -> Result<Tensor, EvalError> {
    let one = T::Acc::ONE;
    let (shape, products) =
        accumulated::<T>(cx, input, along, one, T::Acc::mul, Checked::<T::Acc>::mul)?;
    Ok(Tensor::of(
        shape,
        products.into_iter().map(T::narrow).collect(),
    ))
}

fn extreme<T: Element>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &Along,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy,
) -> Result<Tensor, EvalError> {
    let shape = along.shape(input.shape());
    let count = cx.count(T::DTYPE, &shape)?;
    let elements = fold(input, along, count, identity, |x: T| x, combine);
    Ok(Tensor::of(shape, elements))
}

/// The shape of a sum and its elements, not rounded to the dtype yet.
fn sums<T: Num>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &Along,
) -> Result<(Vec<usize>, Vec<T::Acc>), EvalError> {
    let zero = T::Acc::ZERO;
    accumulated::<T>(cx, input, along, zero, T::Acc::add, Checked::<T::Acc>::add)
}

/// The shape of a reduction in the accumulator and its elements, not rounded to the dtype yet. `checked` is `combine` of
/// integers where overflow is refused.
fn accumulated<T: Num>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &Along,
    identity: T::Acc,
    combine: impl Fn(T::Acc, T::Acc) -> T::Acc + Copy,
    checked: impl Fn(Checked<T::Acc>, Checked<T::Acc>) -> Checked<T::Acc> + Copy,
) -> Result<(Vec<usize>, Vec<T::Acc>), EvalError> {
    let shape = along.shape(input.shape());
    let count = cx.count(T::Acc::DTYPE, &shape)?;
    if T::IS_FLOAT || cx.overflow == Overflow::Wrap {
        let elements = fold(input, along, count, identity, T::widen, combine);
        return Ok((shape, elements));
    }
    let load = |x: T| Checked::of(x.widen());
    let elements = fold(input, along, count, Checked::of(identity), load, checked);
    let elements: Result<Vec<T::Acc>, EvalError> =
        elements.into_iter().map(Checked::finish).collect();
    Ok((shape, elements?))
}

/// One result for each of the `count` positions of the dimensions that are kept. The order is that of
/// [`Lanes`] over the reduced dimensions, row-major.
fn fold<T: Element, A: Copy>(
    input: &Tensor,
    along: &Along,
    count: usize,
    identity: A,
    load: impl Fn(T) -> A + Copy,
    combine: impl Fn(A, A) -> A + Copy,
) -> Vec<A> {
    let elements = input.elements::<T>();
    if elements.is_empty() {
        return vec![identity; count];
    }
    let (kept, reduced) = (along.space(input, false), along.space(input, true));
    let (len, stride) = reduced.inner;
    let result = |base: usize| {
        let mut lanes = Lanes::new(identity, combine);
        for start in reduced.runs(base) {
            match stride {
                1 => lanes.extend(&elements[start..start + len], load),
                _ => (0..len).for_each(|i| lanes.push(load(elements[start + i * stride]))),
            }
        }
        lanes.total()
    };
    kept.offsets(0).map(result).collect()
}

/// `sum / count`; integers truncate toward zero, also where `count` does not fit the dtype.
///
/// # Errors
///
/// E6005 no element, for integers.
pub(crate) fn quotient<A: Num>(sum: A, count: usize) -> Result<A, EvalError> {
    let divisor = A::from_count(count);
    let (Some(exact), Some(represented)) = (sum.to_i128(), divisor.to_i128()) else {
        return Ok(sum.div(divisor).expect("floats divide by anything"));
    };
    let count = count as i128;
    if represented == count {
        return sum.div(divisor).ok_or(EvalError::Division {
            lhs: exact,
            rhs: count,
        });
    }
    Ok(if exact == -count {
        A::ZERO.sub(A::ONE)
    } else {
        A::ZERO
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_means_divide_by_counts_that_their_dtype_lacks() {
        assert_eq!(quotient(-128i8, 128), Ok(-1));
        assert_eq!(quotient(-127i8, 128), Ok(0));
        assert_eq!(quotient(100i8, 256), Ok(0));
        assert_eq!(quotient(-7i8, 2), Ok(-3));
        assert_eq!(
            quotient(0u8, 0),
            Err(EvalError::Division { lhs: 0, rhs: 0 })
        );
    }
}
