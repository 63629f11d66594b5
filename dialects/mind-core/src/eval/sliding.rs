//! Sliding windows over a tensor.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Element, Num, Tensor, advance, row_major};
use mind_ir::types::DType;
use mind_ir::with_num;

use super::chain::Accumulator;
use super::checked::{self, Checked};
use super::reduce::{integer_quotient, quotient};

/// The sliding window along one dimension.
///
/// Tap `t` at position `p` is element `(p * stride + t * dilation - low) / base`. The tap is outside if that is not an
/// integer or not an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SlideAxis {
    /// The extent of the input.
    pub extent: usize,
    /// The number of positions of the window.
    pub positions: usize,
    /// The number of taps.
    pub window: usize,
    /// The distance between positions, in coordinates.
    pub stride: i64,
    /// The distance between taps, in coordinates; not 0.
    pub dilation: i64,
    /// The number of coordinates before the first element.
    pub low: i64,
    /// The distance between elements, in coordinates; 1 or more.
    pub base: i64,
}

impl SlideAxis {
    /// Returns a dimension without a window: each element is a position with one tap.
    pub fn fixed(extent: usize) -> SlideAxis {
        SlideAxis::window(extent, extent, 1)
    }

    /// Returns a dimension with a single position whose taps are all elements.
    pub fn whole(extent: usize) -> SlideAxis {
        SlideAxis::window(extent, 1, extent)
    }

    fn window(extent: usize, positions: usize, window: usize) -> SlideAxis {
        SlideAxis {
            extent,
            positions,
            window,
            stride: 1,
            dilation: 1,
            low: 0,
            base: 1,
        }
    }

    /// Returns the element at `tap` of the window at `position`, if it is inside.
    fn element(&self, position: usize, tap: usize) -> Option<usize> {
        let at = self.start(position) + tap as i128 * i128::from(self.dilation);
        let base = i128::from(self.base);
        let element = (at.rem_euclid(base) == 0).then(|| at.div_euclid(base))?;
        usize::try_from(element)
            .ok()
            .filter(|&element| element < self.extent)
    }

    /// Returns the coordinate of the first tap at `position`.
    fn start(&self, position: usize) -> i128 {
        position as i128 * i128::from(self.stride) - i128::from(self.low)
    }

    /// Returns a range of taps that includes all taps inside.
    fn reach(&self, position: usize) -> std::ops::Range<usize> {
        if self.extent == 0 {
            return 0..0;
        }
        let (start, step) = (self.start(position), i128::from(self.dilation));
        let last = (self.extent as i128 - 1) * i128::from(self.base);
        let (near, far) = if step > 0 {
            (-start, last - start)
        } else {
            (start - last, start)
        };
        let (first, end) = (
            -(-near).div_euclid(step.abs()),
            far.div_euclid(step.abs()) + 1,
        );
        let bounded = |tap: i128| tap.clamp(0, self.window as i128) as usize;
        bounded(first)..bounded(end).max(bounded(first))
    }

    /// Returns the number of taps inside of the window at `position`.
    pub fn inside(&self, position: usize) -> usize {
        let taps = self.reach(position);
        if self.base == 1 {
            return taps.len();
        }
        taps.filter(|&tap| self.element(position, tap).is_some())
            .count()
    }
}

/// A tap: the offset of its element, `None` if it is outside, and its offset in the filter.
type Tap = (Option<usize>, usize);

/// A window that slides along every dimension of a tensor, with an optional filter or second operand.
pub struct Sliding {
    /// The dimensions, outermost first.
    pub axes: Vec<SlideAxis>,
    /// For each dimension, the strides of the input between elements, of the filter between taps, and of the filter
    /// between positions.
    pub strides: Vec<[usize; 3]>,
    /// Whether taps outside count as elements 0; otherwise they are skipped.
    pub padded: bool,
}

/// A position of the window, as `emit` receives it.
struct Position {
    /// The number of taps inside.
    inside: usize,
    /// The offset of the filter for this position.
    place: usize,
}

impl Sliding {
    /// Returns the windows over a contiguous tensor; taps outside are skipped. `other` describes a contiguous second
    /// operand: for each dimension its extent, and whether that counts taps (as in a filter) or positions. Extents of 1
    /// are broadcast.
    pub fn dense(axes: &[SlideAxis], other: Option<&[(usize, bool)]>) -> Sliding {
        let rank = axes.len();
        let (mut inputs, mut others) = (vec![0; rank], vec![0; rank]);
        let extents: Vec<usize> = axes.iter().map(|axis| axis.extent).collect();
        if !extents.contains(&0) {
            inputs.copy_from_slice(&row_major(&extents));
        }
        if let Some(other) = other.filter(|other| other.iter().all(|&(extent, _)| extent != 0)) {
            let extents: Vec<usize> = other.iter().map(|&(extent, _)| extent).collect();
            others.copy_from_slice(&row_major(&extents));
        }
        let strides = (0..rank).map(|at| match other.map(|other| other[at]) {
            None | Some((1, _)) => [inputs[at], 0, 0],
            Some((_, true)) => [inputs[at], others[at], 0],
            Some((_, false)) => [inputs[at], 0, others[at]],
        });
        Sliding {
            axes: axes.to_vec(),
            strides: strides.collect(),
            padded: false,
        }
    }

    /// Returns the shape of the result.
    pub fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.positions).collect()
    }

    /// Returns the number of taps of a window, inside or not.
    fn taps_of_window(&self) -> usize {
        let taps = self.axes.iter().map(|axis| axis.window);
        taps.fold(1, usize::saturating_mul)
    }

    /// Folds the taps at each position with `combine`, starting from `identity`, and passes the results to `emit` in
    /// row-major order.
    ///
    /// # Errors
    ///
    /// The first error of `emit`.
    fn walk<A: Copy>(
        &self,
        identity: A,
        combine: &dyn Fn(A, Option<usize>, usize) -> A,
        emit: &mut dyn FnMut(A, Position) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let shape = self.shape();
        if shape.contains(&0) {
            return Ok(());
        }
        let is_empty = self.axes.iter().any(|axis| axis.window == 0)
            || !self.padded && self.axes.iter().any(|axis| axis.extent == 0);
        let mut index = vec![0; shape.len()];
        let mut taps: Vec<Vec<Tap>> = vec![Vec::new(); shape.len()];
        let mut known: Vec<Option<usize>> = vec![None; shape.len()];
        loop {
            let mut place = 0;
            for (at, &position) in index.iter().enumerate() {
                place += position * self.strides[at][2];
                if !is_empty && known[at] != Some(position) {
                    self.taps(at, position, &mut taps[at]);
                    known[at] = Some(position);
                }
            }
            let (inside, result) = if is_empty {
                (0, identity)
            } else {
                let inside = taps.iter().map(Vec::len).product();
                let start = (Some(0), place);
                (inside, fold(&taps, start, identity, combine))
            };
            emit(result, Position { inside, place })?;
            if !advance(&mut index, &shape) {
                return Ok(());
            }
        }
    }

    /// Computes the taps along dimension `at` of the windows at `position`.
    fn taps(&self, at: usize, position: usize, taps: &mut Vec<Tap>) {
        let (axis, [input, filter, _]) = (self.axes[at], self.strides[at]);
        let range = if self.padded {
            0..axis.window
        } else {
            axis.reach(position)
        };
        taps.clear();
        taps.extend(range.filter_map(|tap| {
            let element = axis.element(position, tap);
            (self.padded || element.is_some())
                .then(|| (element.map(|element| element * input), tap * filter))
        }));
    }
}

/// Folds every combination of taps with `combine`, in row-major order.
fn fold<A: Copy>(
    taps: &[Vec<Tap>],
    (input, filter): Tap,
    sum: A,
    combine: &dyn Fn(A, Option<usize>, usize) -> A,
) -> A {
    let Some((first, rest)) = taps.split_first() else {
        return combine(sum, input, filter);
    };
    first.iter().fold(sum, |sum, &(element, place)| {
        let element = input.zip(element).map(|(start, own)| start + own);
        fold(rest, (element, filter + place), sum, combine)
    })
}

/// The divisor of a mean.
#[derive(Clone, Copy)]
pub enum Divisor<'t> {
    /// The number of taps inside.
    Inside,
    /// The number of all taps.
    Window,
    /// An element for each position, in the accumulator's dtype.
    Given(&'t Tensor),
}

/// Reduces the elements under each window: a chain from the identity, rounded once.
///
/// # Errors
///
/// E6004 too large; E6005 integer overflow where `cx` rejects it, and the mean of no elements for integers.
pub fn reduce_windows(
    cx: &EvalCx<'_>,
    kind: Reduction,
    windows: &Sliding,
    divisor: Divisor<'_>,
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    let dtype = input.dtype();
    let chain = match kind {
        Reduction::Max | Reduction::Min => return extreme(cx, kind, windows, input),
        Reduction::Sum | Reduction::Mean => Chain::Sum,
        Reduction::Prod => Chain::Product,
    };
    let divisor = (kind == Reduction::Mean).then_some(divisor);
    if Checked::applies(cx, dtype) {
        return reduce_checked(cx, chain, windows, divisor, input);
    }
    with_num!(dtype, T => reduce_as::<T>(cx, chain, windows, divisor, input), else {
        unreachable!("verified operands are numeric")
    })
}

/// The combining function of a reduction in the accumulator.
#[derive(Clone, Copy)]
enum Chain {
    Sum,
    Product,
}

/// Combines two numbers.
type Step<A> = fn(A, A) -> A;

/// Returns the maximum or minimum under each window.
fn extreme(
    cx: &EvalCx<'_>,
    kind: Reduction,
    windows: &Sliding,
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    with_num!(input.dtype(), T => {
        let shape = windows.shape();
        let mut results: Vec<T> = Vec::with_capacity(cx.count(T::DTYPE, &shape)?);
        let elements = input.elements::<T>();
        let (start, best): (T, Step<T>) = match kind {
            Reduction::Max => (T::LOWEST, <T as Num>::maximum),
            Reduction::Min | Reduction::Sum | Reduction::Mean | Reduction::Prod => {
                (T::HIGHEST, <T as Num>::minimum)
            }
        };
        let step = |x, at: Option<usize>, _| best(x, at.map_or(T::ZERO, |at| elements[at]));
        windows.walk(start, &step, &mut |x, _| {
            results.push(x);
            Ok(())
        })?;
        Ok(Tensor::of(shape, results))
    }, else {
        unreachable!("verified operands are numeric")
    })
}

fn reduce_as<T: Num>(
    cx: &EvalCx<'_>,
    chain: Chain,
    windows: &Sliding,
    divisor: Option<Divisor<'_>>,
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    let shape = windows.shape();
    let mut results: Vec<T> = Vec::with_capacity(cx.count(T::DTYPE, &shape)?);
    let elements = input.elements::<T>();
    let (start, combine): (T::Acc, Step<T::Acc>) = match chain {
        Chain::Sum => (T::Acc::ZERO, T::Acc::add),
        Chain::Product => (T::Acc::ONE, T::Acc::mul),
    };
    let step =
        |sum, at: Option<usize>, _| combine(sum, at.map_or(T::ZERO, |at| elements[at]).widen());
    windows.walk(start, &step, &mut |sum, position| {
        let result = match divisor {
            None => sum,
            Some(Divisor::Inside) => quotient(sum, position.inside)?,
            Some(Divisor::Window) => quotient(sum, windows.taps_of_window())?,
            Some(Divisor::Given(tensor)) => {
                divided(sum, tensor.elements::<T::Acc>()[position.place])?
            }
        };
        results.push(T::narrow(result));
        Ok(())
    })?;
    Ok(Tensor::of(shape, results))
}

/// Like [`reduce_as`], with overflow checks for integers.
fn reduce_checked(
    cx: &EvalCx<'_>,
    chain: Chain,
    windows: &Sliding,
    divisor: Option<Divisor<'_>>,
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    let (dtype, shape) = (input.dtype(), windows.shape());
    let mut results = Vec::with_capacity(cx.count(dtype, &shape)?);
    let elements = Checked::elements(cx, input)?;
    let (start, combine): (i128, Step<Checked>) = match chain {
        Chain::Sum => (0, Checked::add),
        Chain::Product => (1, Checked::mul),
    };
    let given = match divisor {
        Some(Divisor::Given(tensor)) => checked::integers(tensor),
        Some(Divisor::Inside | Divisor::Window) | None => Vec::new(),
    };
    let zero = Checked::of(0, dtype);
    let step = |sum, at: Option<usize>, _| combine(sum, at.map_or(zero, |at| elements[at]));
    windows.walk(Checked::of(start, dtype), &step, &mut |sum, position| {
        let sum = sum.finish()?;
        let divisor = match divisor {
            None => 1,
            Some(Divisor::Inside) => position.inside as i128,
            Some(Divisor::Window) => windows.taps_of_window() as i128,
            Some(Divisor::Given(_)) => given[position.place],
        };
        let quotient = Checked::of(integer_quotient(sum, divisor)?, dtype);
        results.push(quotient.add(zero).finish()?);
        Ok(())
    })?;
    Ok(checked::tensor_of(dtype, shape, &results))
}

/// Divides a sum by a divisor.
///
/// # Errors
///
/// E6005 an integer divided by 0.
fn divided<A: Num>(sum: A, divisor: A) -> Result<A, EvalError> {
    sum.div(divisor).ok_or_else(|| EvalError::Division {
        lhs: sum.to_i128().unwrap_or_default(),
        rhs: 0,
    })
}

/// Returns the row-major index of the largest element under each window, or -1 if no tap is inside. The first of equal
/// elements is chosen, and the first NaN.
///
/// # Errors
///
/// E6004 too large.
pub(crate) fn argmax_windows(
    cx: &EvalCx<'_>,
    windows: &Sliding,
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    let shape = windows.shape();
    let mut places: Vec<i64> = Vec::with_capacity(cx.count(DType::I64, &shape)?);
    with_num!(input.dtype(), T => {
        let elements = input.elements::<T>();
        let best = |best: Option<usize>, at: Option<usize>, _| match (best, at) {
            (Some(own), Some(at)) if is_above(elements[at], elements[own]) => Some(at),
            (None, at) => at,
            (best, _) => best,
        };
        windows.walk(None, &best, &mut |place, _| {
            places.push(place.map_or(-1, |at| at as i64));
            Ok(())
        })?;
    }, else {
        unreachable!("verified operands are numeric")
    });
    Ok(Tensor::of(shape, places))
}

/// Returns whether `x` is larger than `y`; NaN is larger than every number.
fn is_above<T: Num>(x: T, y: T) -> bool {
    match x.partial_cmp(&y) {
        Some(order) => order.is_gt(),
        None => y.partial_cmp(&y).is_some(),
    }
}

/// Multiplies the elements under each window by `filter` and sums: a chain of fused multiply-adds, rounded once.
///
/// # Errors
///
/// E6004 too large, E6005 integer overflow where `cx` rejects it.
pub fn multiply_windows(
    cx: &EvalCx<'_>,
    windows: &Sliding,
    input: &Tensor,
    filter: &Tensor,
) -> Result<Tensor, EvalError> {
    let (dtype, shape) = (input.dtype(), windows.shape());
    let count = cx.count(dtype, &shape)?;
    if Checked::applies(cx, dtype) {
        let mut results = Vec::with_capacity(count);
        let zero = Checked::of(0, dtype);
        let (elements, weights) = (
            Checked::elements(cx, input)?,
            Checked::elements(cx, filter)?,
        );
        let step = |sum, at: Option<usize>, place: usize| {
            let element = at.map_or(zero, |at| elements[at]);
            element.multiply_add(weights[place], sum)
        };
        windows.walk(zero, &step, &mut |sum, _| {
            results.push(sum.finish()?);
            Ok(())
        })?;
        return Ok(checked::tensor_of(dtype, shape, &results));
    }
    with_num!(dtype, T => {
        let mut results: Vec<T> = Vec::with_capacity(count);
        let (elements, weights) = (input.elements::<T>(), filter.elements::<T>());
        let step = |sum, at: Option<usize>, place: usize| {
            let element = at.map_or(T::ZERO, |at| elements[at]);
            element.widen().fma(weights[place].widen(), sum)
        };
        windows.walk(<T as Num>::Acc::ZERO, &step, &mut |sum, _| {
            results.push(T::narrow(sum));
            Ok(())
        })?;
        Ok(Tensor::of(shape, results))
    }, else {
        unreachable!("verified operands are numeric")
    })
}
