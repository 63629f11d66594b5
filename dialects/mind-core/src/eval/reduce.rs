//! Reductions in the order of docs/numerics.md.

use super::checked::Checked;
use super::lanes::{Combine, LANES, Lanes, each};
use super::strided::{Axis, Space, strides_of};
use crate::axes;
use mind_ir::eval::{EvalCx, EvalError};
pub use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::{with_int, with_num};

/// Reduces `input` along axes.
///
/// # Errors
///
/// Those of [`sum`], [`mean`], [`max`], [`min`] and [`prod`].
pub fn reduce(
    kind: Reduction,
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &ReducedAxes,
) -> Result<Tensor, EvalError> {
    match kind {
        Reduction::Sum => sum(cx, input, along),
        Reduction::Mean => mean(cx, input, along),
        Reduction::Max => max(cx, input, along),
        Reduction::Min => min(cx, input, along),
        Reduction::Prod => prod(cx, input, along),
    }
}

/// The reduced axes and the treatment of their dimensions.
pub struct ReducedAxes {
    reduced: Vec<bool>,
    keepdims: bool,
}

impl ReducedAxes {
    /// Reduces the axes marked in `reduced`, one entry per dimension; they are kept with extent 1 or removed.
    pub fn new(reduced: Vec<bool>, keepdims: bool) -> ReducedAxes {
        ReducedAxes { reduced, keepdims }
    }

    /// Reduces the listed axes. An empty list means all axes, which are removed even with `keepdims`.
    pub(crate) fn listed(axes: &[i64], keepdims: bool, rank: usize) -> ReducedAxes {
        let reduced =
            axes::reduced("a reduction", axes, rank).expect("verified axes lie in the rank");
        ReducedAxes {
            reduced,
            keepdims: keepdims && !axes.is_empty(),
        }
    }

    /// Reduces one axis, which is kept with extent 1.
    pub(crate) fn single(axis: usize, rank: usize) -> ReducedAxes {
        ReducedAxes {
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

    /// Returns the index space of the reduced dimensions, or of the kept ones.
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

/// Sums along axes.
///
/// # Errors
///
/// E6004 too large, E6005 integer overflow where `cx` rejects it.
pub fn sum(cx: &EvalCx<'_>, input: &Tensor, along: &ReducedAxes) -> Result<Tensor, EvalError> {
    rounded(cx, input, along, Accumulated::Sum)
}

/// Averages along axes; the sum is divided before it is rounded to the dtype.
///
/// # Errors
///
/// Those of [`sum`], and E6005 over no elements for integers.
pub fn mean(cx: &EvalCx<'_>, input: &Tensor, along: &ReducedAxes) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => {
        let (shape, mut sums) = accumulated::<T>(cx, input, along, Accumulated::Sum)?;
        let count = input.count().checked_div(sums.len()).unwrap_or(0);
        for sum in &mut sums {
            *sum = quotient(*sum, count)?;
        }
        Ok(Tensor::of(shape, narrowed::<T>(&sums)))
    }, else not_numeric())
}

/// Multiplies along axes.
///
/// # Errors
///
/// Those of [`sum`].
pub fn prod(cx: &EvalCx<'_>, input: &Tensor, along: &ReducedAxes) -> Result<Tensor, EvalError> {
    rounded(cx, input, along, Accumulated::Product)
}

/// Returns the maximum along axes; for `bool`, whether any element is true.
///
/// # Errors
///
/// E6004 too large.
pub fn max(cx: &EvalCx<'_>, input: &Tensor, along: &ReducedAxes) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => extreme(cx, input, along, T::LOWEST, each!(<T as Num>::maximum)), else {
        extreme(cx, input, along, false, each!(|x, y| x | y))
    })
}

/// Returns the minimum along axes; for `bool`, whether all elements are true.
///
/// # Errors
///
/// E6004 too large.
pub fn min(cx: &EvalCx<'_>, input: &Tensor, along: &ReducedAxes) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => extreme(cx, input, along, T::HIGHEST, each!(<T as Num>::minimum)), else {
        extreme(cx, input, along, true, each!(|x, y| x & y))
    })
}

/// Computes a sum or product and rounds it to the dtype.
fn rounded(
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &ReducedAxes,
    kind: Accumulated,
) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => {
        let (shape, elements) = accumulated::<T>(cx, input, along, kind)?;
        Ok(Tensor::of(shape, narrowed::<T>(&elements)))
    }, else not_numeric())
}

/// Rounds elements of the accumulator to the dtype.
pub(crate) fn narrowed<T: Num>(elements: &[T::Acc]) -> Vec<T> {
    elements.iter().map(|&x| T::narrow(x)).collect()
}

fn not_numeric() -> Result<Tensor, EvalError> {
    unreachable!("verified operands are numeric")
}

/// Returns the shape of a sum or product and its elements in the accumulator, before rounding.
fn accumulated<T: Num>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &ReducedAxes,
    kind: Accumulated,
) -> Result<(Vec<usize>, Vec<T::Acc>), EvalError> {
    let shape = along.shape(input.shape());
    let count = cx.count(T::Acc::DTYPE, &shape)?;
    let is_checked =
        Checked::applies(cx, T::DTYPE) && !is_small(input.elements::<T>(), count, kind);
    let elements = if is_checked {
        let integers = checked(input, along, count, kind)?.into_iter();
        integers.map(T::Acc::from_i128).collect()
    } else {
        let (identity, combine) = kind.steps();
        fold(input, along, count, identity, T::widen, combine)
    };
    Ok((shape, elements))
}

/// Returns whether no partial sum can overflow, because there are few elements for each of `count` results and their
/// magnitudes are small. Overflow checks are then skipped.
fn is_small<T: Num>(elements: &[T], count: usize, kind: Accumulated) -> bool {
    let (Accumulated::Sum, Some(limit)) = (kind, T::HIGHEST.to_i128()) else {
        return false;
    };
    let all = elements.iter().copied();
    let least = all.clone().fold(T::ZERO, T::minimum).to_i128();
    let most = all.fold(T::ZERO, T::maximum).to_i128();
    let (Some(least), Some(most)) = (least, most) else {
        return false;
    };
    let each = elements.len().checked_div(count).unwrap_or(0) as i128;
    each.saturating_mul(most.max(-least)) <= limit
}

/// Computes a sum or product of integers with overflow checks.
///
/// # Errors
///
/// E6005 overflow.
fn checked(
    input: &Tensor,
    along: &ReducedAxes,
    count: usize,
    kind: Accumulated,
) -> Result<Vec<i128>, EvalError> {
    let dtype = input.dtype();
    let (identity, combine): (i128, Combine<Checked>) = match kind {
        Accumulated::Sum => (0, each!(Checked::add)),
        Accumulated::Product => (1, each!(Checked::mul)),
    };
    let identity = Checked::of(identity, dtype);
    let elements = with_int!(dtype, T => {
        let load = |x: T| Checked::of(i128::from(x), dtype);
        fold(input, along, count, identity, load, combine)
    }, else Vec::new());
    elements.into_iter().map(Checked::finish).collect()
}

/// A reduction that runs in the accumulator's dtype.
#[derive(Clone, Copy)]
enum Accumulated {
    Sum,
    Product,
}

impl Accumulated {
    /// Returns the identity and the combining function.
    fn steps<A: Num>(self) -> (A, Combine<A>) {
        match self {
            Accumulated::Sum => (A::ZERO, each!(A::add)),
            Accumulated::Product => (A::ONE, each!(A::mul)),
        }
    }
}

fn extreme<T: Element>(
    cx: &EvalCx<'_>,
    input: &Tensor,
    along: &ReducedAxes,
    identity: T,
    combine: Combine<T>,
) -> Result<Tensor, EvalError> {
    let shape = along.shape(input.shape());
    let count = cx.count(T::DTYPE, &shape)?;
    let elements = fold(input, along, count, identity, |x: T| x, combine);
    Ok(Tensor::of(shape, elements))
}

/// Reduces to `count` results, one for each position of the kept dimensions. Each result has the order of [`Lanes`]
/// over the reduced dimensions in row-major order.
fn fold<T: Element, A: Copy>(
    input: &Tensor,
    along: &ReducedAxes,
    count: usize,
    identity: A,
    load: impl Fn(T) -> A + Copy,
    combine: Combine<A>,
) -> Vec<A> {
    let elements = input.elements::<T>();
    if elements.is_empty() {
        return vec![identity; count];
    }
    let (kept, reduced) = (along.space(input, false), along.space(input, true));
    let (len, stride) = reduced.inner;
    if kept.inner.1 == 1 && stride > 1 {
        let load = |from: &[T], into: &mut [A]| {
            for (slot, &x) in into.iter_mut().zip(from) {
                *slot = load(x);
            }
        };
        return fold_rows(elements, (&kept, &reduced), count, identity, load, combine);
    }
    let mut loaded = [identity; LANES];
    let mut results = Vec::with_capacity(count);
    for base in kept.offsets(0) {
        let mut lanes = Lanes::new(identity, combine);
        for start in reduced.runs(base) {
            for first in (0..len).step_by(LANES) {
                let taken = LANES.min(len - first);
                let from = &elements[start + first * stride..];
                match stride {
                    1 => {
                        let run = loaded.iter_mut().zip(&from[..taken]);
                        run.for_each(|(slot, &x)| *slot = load(x));
                    }
                    _ => {
                        let run = loaded[..taken].iter_mut().enumerate();
                        run.for_each(|(at, slot)| *slot = load(from[at * stride]));
                    }
                }
                lanes.extend(&loaded[..taken]);
            }
        }
        results.push(lanes.total());
    }
    results
}

/// The number of results that are computed side by side.
const ADJACENT_RESULTS: usize = 32;

/// Like [`fold`], for a kept innermost dimension that is contiguous. Up to [`ADJACENT_RESULTS`] adjacent results
/// share each read of a contiguous piece; the order of each result is that of [`fold`].
fn fold_rows<T: Element, A: Copy>(
    elements: &[T],
    (kept, reduced): (&Space, &Space),
    count: usize,
    identity: A,
    load: impl Fn(&[T], &mut [A]),
    combine: Combine<A>,
) -> Vec<A> {
    let (len, stride) = reduced.inner;
    let mut results = Vec::with_capacity(count);
    let mut loaded = [identity; ADJACENT_RESULTS];
    // Indexed by lane, then by result.
    let mut partial = [identity; LANES * ADJACENT_RESULTS];
    for row in kept.runs(0) {
        for first in (0..kept.inner.0).step_by(ADJACENT_RESULTS) {
            let width = ADJACENT_RESULTS.min(kept.inner.0 - first);
            let (loaded, partial) = (&mut loaded[..width], &mut partial[..LANES * width]);
            partial.fill(identity);
            let mut lane = 0;
            for start in reduced.runs(row + first) {
                for at in 0..len {
                    load(&elements[start + at * stride..][..width], loaded);
                    combine(&mut partial[lane * width..][..width], loaded);
                    lane = (lane + 1) % LANES;
                }
            }
            let mut half = LANES / 2;
            while half > 0 {
                let (low, high) = partial.split_at_mut(half * width);
                combine(low, &high[..half * width]);
                half /= 2;
            }
            results.extend_from_slice(&partial[..width]);
        }
    }
    results
}

/// Divides `sum` by `count`. Integers truncate toward zero, exactly even if `count` does not fit the dtype.
///
/// # Errors
///
/// E6005 `count` is 0, for integers.
pub(crate) fn quotient<A: Num>(sum: A, count: usize) -> Result<A, EvalError> {
    match sum.to_i128() {
        Some(exact) => Ok(A::from_i128(integer_quotient(exact, count as i128)?)),
        None => Ok(sum
            .div(A::from_count(count))
            .expect("floats divide by anything")),
    }
}

/// Divides `sum` by `divisor` and truncates toward zero.
///
/// # Errors
///
/// E6005 `divisor` is 0.
pub(crate) fn integer_quotient(sum: i128, divisor: i128) -> Result<i128, EvalError> {
    let (lhs, rhs) = (sum, divisor);
    let quotient = sum.checked_div(divisor);
    quotient.ok_or(EvalError::Division { lhs, rhs })
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

    #[test]
    fn results_beside_each_other_have_the_bits_of_those_alone() {
        // The sum of these elements depends on the order of summation.
        let element = |at: usize| ((at * 7919) % 1009) as f32 * 1e-3 + 1e4 * (at % 3) as f32;
        let (rows, columns) = (3 * LANES + 5, 2 * ADJACENT_RESULTS + 3);
        let elements: Vec<f32> = (0..2 * rows * columns).map(element).collect();
        let input = Tensor::of(vec![2, rows, columns], elements.clone());
        let along = ReducedAxes::new(vec![false, true, false], false);
        let combine: Combine<f32> = each!(<f32 as Num>::add);
        let found = fold(&input, &along, 2 * columns, 0.0, |x: f32| x, combine);
        let alone = (0..2 * columns).map(|at| {
            let first = at / columns * rows * columns + at % columns;
            let column: Vec<f32> = (0..rows)
                .map(|row| elements[first + row * columns])
                .collect();
            let mut lanes = Lanes::new(0.0, combine);
            lanes.extend(&column);
            lanes.total()
        });
        assert_eq!(found, alone.collect::<Vec<f32>>());
    }

    #[test]
    fn sums_are_small_up_to_the_largest_integer() {
        assert!(is_small(&[63i8, 2, 1, 0], 2, Accumulated::Sum));
        assert!(!is_small(&[64i8, 2, 1, 0], 2, Accumulated::Sum));
        assert!(is_small(&[-127i8, 2], 2, Accumulated::Sum));
        assert!(!is_small(&[-128i8, 2], 2, Accumulated::Sum));
        assert!(!is_small(&[1i8], 1, Accumulated::Product));
        assert!(!is_small(&[0.0f32], 1, Accumulated::Sum));
    }
}
