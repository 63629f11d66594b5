//! Elementwise evaluation.

use smallvec::SmallVec;

use crate::eval::{EvalCx, EvalError, Overflow};
use crate::tensor::{Element, Num, Tensor, advance, broadcast_strides};
use crate::types::DType;

/// The operand of a function that takes one.
pub(super) fn one<'a>(operands: &[&'a Tensor]) -> &'a Tensor {
    let &[x] = operands else {
        panic!("one operand, not {}", operands.len());
    };
    x
}

/// The operands of a function that takes two.
pub(super) fn two<'a>(operands: &[&'a Tensor]) -> [&'a Tensor; 2] {
    let &[x, y] = operands else {
        panic!("two operands, not {}", operands.len());
    };
    [x, y]
}

/// The operands of a function that takes three.
pub(super) fn three<'a>(operands: &[&'a Tensor]) -> [&'a Tensor; 3] {
    let &[x, y, z] = operands else {
        panic!("three operands, not {}", operands.len());
    };
    [x, y, z]
}

/// What becomes of operands that verification refuses.
pub(super) fn undefined<T>(dtype: DType) -> T {
    panic!("not defined on {dtype}")
}

/// The results at every position.
pub(super) fn map<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: impl Fn(T) -> Result<T, EvalError>,
) -> Result<Tensor, EvalError> {
    cx.count(T::DTYPE, x.shape())?;
    let elements: Result<Vec<T>, EvalError> = x.elements::<T>().iter().map(|&x| f(x)).collect();
    Ok(Tensor::of(x.shape().to_vec(), elements?))
}

/// `wrapped`, unless it differs from the exact result where that is refused.
pub(super) fn fits<T: Num>(
    cx: &EvalCx<'_>,
    wrapped: T,
    exact: impl FnOnce() -> Option<i128>,
) -> Result<T, EvalError> {
    if !T::IS_FLOAT && cx.overflow == Overflow::Refuse && wrapped.to_i128() != exact() {
        return Err(EvalError::Overflow);
    }
    Ok(wrapped)
}

/// The integer, as wide as no result of a function is.
pub(super) fn exact<T: Num>(x: T) -> i128 {
    x.to_i128().unwrap_or(0)
}

/// The quotient.
///
/// # Errors
///
/// Integers without one.
pub(super) fn divide<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.div(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: exact(y),
    })
}

/// What is left of a division that truncates.
///
/// # Errors
///
/// An integer divided by 0.
pub(super) fn remainder<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.remainder(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: 0,
    })
}

/// What is left of a division that rounds down.
///
/// # Errors
///
/// An integer divided by 0.
pub(super) fn modulo<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.modulo(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: 0,
    })
}

/// The power.
///
/// # Errors
///
/// An integer 0 to a negative exponent, and an integer overflow where that is refused.
pub(super) fn power<T: Num>(cx: &EvalCx<'_>, x: T, y: T) -> Result<T, EvalError> {
    let power = x.pow(y).ok_or_else(|| EvalError::Division {
        lhs: 1,
        rhs: exact(x),
    })?;
    fits(cx, power, || {
        let (base, exponent) = (exact(x), exact(y));
        if exponent < 0 || (-1..=1).contains(&base) {
            return Some(exact(power));
        }
        base.checked_pow(u32::try_from(exponent).ok()?)
    })
}

/// The results at every position of the shape that both operands broadcast to.
pub(super) fn zip<T: Element, R: Element>(
    cx: &EvalCx<'_>,
    [x, y]: [&Tensor; 2],
    f: impl Fn(T, T) -> Result<R, EvalError>,
) -> Result<Tensor, EvalError> {
    let shape = broadcast_extents(x.shape(), y.shape())?;
    let count = cx.count(R::DTYPE, &shape)?;
    let (xs, ys) = (x.elements::<T>(), y.elements::<T>());
    if x.shape() == y.shape() {
        let elements: Result<Vec<R>, EvalError> =
            xs.iter().zip(ys).map(|(&x, &y)| f(x, y)).collect();
        return Ok(Tensor::of(shape, elements?));
    }
    let (x_strides, y_strides) = (
        broadcast_strides(x.shape(), &shape),
        broadcast_strides(y.shape(), &shape),
    );
    let mut elements = Vec::with_capacity(count);
    if count > 0 {
        let inner = shape.last().copied().unwrap_or(1);
        let (dx, dy) = (last(&x_strides), last(&y_strides));
        let outer = &shape[..shape.len().saturating_sub(1)];
        let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, outer.len());
        loop {
            let (bx, by) = (offset(&index, &x_strides), offset(&index, &y_strides));
            for step in 0..inner {
                elements.push(f(xs[bx + step * dx], ys[by + step * dy])?);
            }
            if !advance(&mut index, outer) {
                break;
            }
        }
    }
    Ok(Tensor::of(shape, elements))
}

/// Whether two elements compare as `holds` says, at every position of the shape that both operands broadcast to.
pub(super) fn compare<T: Element>(
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
    holds: fn(&T, &T) -> bool,
) -> Result<Tensor, EvalError> {
    zip::<T, bool>(cx, two(operands), |x, y| Ok(holds(&x, &y)))
}

/// Of truth values and two values, at each position of the shape that all three broadcast to, the first value if the
/// truth value is true, else the second.
pub(super) fn choose<T: Element>(
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let operands @ [which, x, y] = three(operands);
    let (which, xs, ys) = (
        which.elements::<bool>(),
        x.elements::<T>(),
        y.elements::<T>(),
    );
    at_each_position(
        cx,
        operands,
        |[at, x, y]| if which[at] { xs[x] } else { ys[y] },
    )
}

/// The results of a function of three values at every position of the shape that they broadcast to.
pub(super) fn zip3<T: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 3],
    f: impl Fn(T, T, T) -> T,
) -> Result<Tensor, EvalError> {
    let [xs, ys, zs] = operands.map(Tensor::elements::<T>);
    at_each_position(cx, operands, |[x, y, z]| f(xs[x], ys[y], zs[z]))
}

/// What `f` makes of the places of the elements, at every position of the shape that the operands broadcast to.
fn at_each_position<T: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 3],
    f: impl Fn([usize; 3]) -> T,
) -> Result<Tensor, EvalError> {
    let [first, second, third] = operands.map(Tensor::shape);
    let shape = broadcast_extents(second, third)?;
    let shape = broadcast_extents(first, &shape)?;
    let count = cx.count(T::DTYPE, &shape)?;
    let strides = operands.map(|each| broadcast_strides(each.shape(), &shape));
    let mut elements = Vec::with_capacity(count);
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, shape.len());
    for _ in 0..count {
        elements.push(f([0, 1, 2].map(|each| offset(&index, &strides[each]))));
        advance(&mut index, &shape);
    }
    Ok(Tensor::of(shape, elements))
}

fn last(strides: &[usize]) -> usize {
    strides.last().copied().unwrap_or(0)
}

fn offset(index: &[usize], strides: &[usize]) -> usize {
    index
        .iter()
        .zip(strides)
        .map(|(i, stride)| i * stride)
        .sum()
}

/// The extents two shapes broadcast to when they are run.
///
/// # Errors
///
/// Extents that clash, which verification could not see where an extent was open.
pub fn broadcast_extents(x: &[usize], y: &[usize]) -> Result<Vec<usize>, EvalError> {
    let rank = x.len().max(y.len());
    let at = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(inner) => shape[inner],
        None => 1,
    };
    let pair = |axis: usize| match (at(x, axis), at(y, axis)) {
        (1, extent) | (extent, 1) => Ok(extent),
        (a, b) if a == b => Ok(a),
        (a, b) => Err(EvalError::Shape(format!(
            "broadcasting failed at dimension {axis}: extent {a} against {b}, shapes {x:?} and {y:?}"
        ))),
    };
    (0..rank).map(pair).collect()
}
