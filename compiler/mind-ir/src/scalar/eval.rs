//! Elementwise evaluation.

use super::broadcast::Broadcast;
use crate::eval::{EvalCx, EvalError, Overflow};
use crate::tensor::{Element, FloatNum, Num, Tensor};
use crate::types::DType;
use crate::with_float;

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

/// The results of `f` at every position.
pub(super) fn map<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: impl Fn(T) -> T,
) -> Result<Tensor, EvalError> {
    cx.count(T::DTYPE, x.shape())?;
    let elements = x.elements::<T>().iter().map(|&x| f(x)).collect();
    Ok(Tensor::of(x.shape().to_vec(), elements))
}

/// As [`map`], of a function that has no result for some elements.
fn try_map<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: &dyn Fn(T) -> Result<T, EvalError>,
) -> Result<Tensor, EvalError> {
    cx.count(T::DTYPE, x.shape())?;
    let elements: Result<Vec<T>, EvalError> = x.elements::<T>().iter().map(|&x| f(x)).collect();
    Ok(Tensor::of(x.shape().to_vec(), elements?))
}

/// As [`map`], of a function of floats.
pub(super) fn map_float(
    cx: &EvalCx<'_>,
    x: &Tensor,
    on_f32: fn(f32) -> f32,
    on_f64: fn(f64) -> f64,
) -> Result<Tensor, EvalError> {
    let dtype = x.dtype();
    with_float!(dtype, T => map::<T>(cx, x, |x| x.apply(on_f32, on_f64)), else undefined(dtype))
}

/// As [`map`], of a function that wraps on integers where `exactly` is the result; an overflow is an error where it is
/// refused.
pub(super) fn map_wrapping<T: Num>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: fn(T) -> T,
    exactly: fn(i128) -> Option<i128>,
) -> Result<Tensor, EvalError> {
    if !refuses::<T>(cx) {
        return map(cx, x, f);
    }
    try_map(cx, x, &|x| fits(f(x), exactly(exact(x))))
}

/// Whether a result that differs from the exact one is an error.
fn refuses<T: Num>(cx: &EvalCx<'_>) -> bool {
    !T::IS_FLOAT && cx.overflow == Overflow::Refuse
}

/// `wrapped`, if it is the exact result.
fn fits<T: Num>(wrapped: T, exact: Option<i128>) -> Result<T, EvalError> {
    if wrapped.to_i128() != exact {
        return Err(EvalError::Overflow);
    }
    Ok(wrapped)
}

/// The integer, as wide as no result of a function is.
fn exact<T: Num>(x: T) -> i128 {
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
    let (base, exponent) = (exact(x), exact(y));
    if !refuses::<T>(cx) || exponent < 0 || (-1..=1).contains(&base) {
        return Ok(power);
    }
    let exponent = u32::try_from(exponent).ok();
    fits(
        power,
        exponent.and_then(|exponent| base.checked_pow(exponent)),
    )
}

/// The results of `f` at every position of the shape that both operands broadcast to.
pub(super) fn zip<T: Element, R: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 2],
    f: impl Fn(T, T) -> R,
) -> Result<Tensor, EvalError> {
    let broadcast = broadcast::<R, 2>(cx, operands)?;
    let [xs, ys] = operands.map(Tensor::elements::<T>);
    let elements = broadcast.positions().map(|[x, y]| f(xs[x], ys[y]));
    let elements = elements.collect();
    Ok(Tensor::of(broadcast.into_shape(), elements))
}

/// As [`zip`], of a function that has no result for some elements.
pub(super) fn try_zip<T: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 2],
    f: &dyn Fn(T, T) -> Result<T, EvalError>,
) -> Result<Tensor, EvalError> {
    let broadcast = broadcast::<T, 2>(cx, operands)?;
    let [xs, ys] = operands.map(Tensor::elements::<T>);
    let elements = broadcast.positions().map(|[x, y]| f(xs[x], ys[y]));
    let elements = elements.collect::<Result<Vec<T>, EvalError>>()?;
    Ok(Tensor::of(broadcast.into_shape(), elements))
}

/// As [`zip`], of a function of floats.
pub(super) fn zip_float(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 2],
    on_f32: fn(f32, f32) -> f32,
    on_f64: fn(f64, f64) -> f64,
) -> Result<Tensor, EvalError> {
    let dtype = operands[0].dtype();
    with_float!(dtype, T => {
        zip::<T, T>(cx, operands, |x, y| x.apply2(y, on_f32, on_f64))
    }, else undefined(dtype))
}

/// As [`zip`], of a function that wraps on integers where `exactly` is the result; an overflow is an error where it is
/// refused.
pub(super) fn zip_wrapping<T: Num>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 2],
    f: fn(T, T) -> T,
    exactly: fn(i128, i128) -> Option<i128>,
) -> Result<Tensor, EvalError> {
    if !refuses::<T>(cx) {
        return zip(cx, operands, f);
    }
    try_zip(cx, operands, &|x, y| {
        fits(f(x, y), exactly(exact(x), exact(y)))
    })
}

/// Whether two elements compare as `holds` says, at every position of the shape that both operands broadcast to.
pub(super) fn compare<T: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 2],
    holds: fn(&T, &T) -> bool,
) -> Result<Tensor, EvalError> {
    zip(cx, operands, |x: T, y: T| holds(&x, &y))
}

/// Of truth values and two values, at each position of the shape that all three broadcast to, the first value if the
/// truth value is true, else the second.
pub(super) fn choose<T: Element>(
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let operands @ [which, x, y] = three(operands);
    let broadcast = broadcast::<T, 3>(cx, operands)?;
    let (which, xs, ys) = (
        which.elements::<bool>(),
        x.elements::<T>(),
        y.elements::<T>(),
    );
    let chosen = |[at, x, y]: [usize; 3]| if which[at] { xs[x] } else { ys[y] };
    let elements = broadcast.positions().map(chosen).collect();
    Ok(Tensor::of(broadcast.into_shape(), elements))
}

/// The results of a function of three values at every position of the shape that they broadcast to.
pub(super) fn zip3<T: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 3],
    f: fn(T, T, T) -> T,
) -> Result<Tensor, EvalError> {
    let broadcast = broadcast::<T, 3>(cx, operands)?;
    let [xs, ys, zs] = operands.map(Tensor::elements::<T>);
    let elements = broadcast
        .positions()
        .map(|[x, y, z]| f(xs[x], ys[y], zs[z]));
    let elements = elements.collect();
    Ok(Tensor::of(broadcast.into_shape(), elements))
}

/// The broadcast of `operands` for a result of elements `R`.
///
/// # Errors
///
/// Shapes that do not broadcast, and a result too large.
fn broadcast<R: Element, const N: usize>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; N],
) -> Result<Broadcast<N>, EvalError> {
    let broadcast = Broadcast::of(operands.map(Tensor::shape))?;
    cx.count(R::DTYPE, broadcast.shape())?;
    Ok(broadcast)
}
