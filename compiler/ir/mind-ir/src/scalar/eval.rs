//! Evaluation of elementwise ops.

use super::broadcast::Broadcast;
use crate::eval::{EvalCx, EvalError, Overflow};
use crate::tensor::{Element, FloatNum, Num, Tensor};
use crate::types::DType;
use crate::with_float;

/// Returns the operand of a unary function.
pub(super) fn one<'a>(operands: &[&'a Tensor]) -> &'a Tensor {
    let &[x] = operands else {
        panic!("one operand, not {}", operands.len());
    };
    x
}

/// Returns the operands of a binary function.
pub(super) fn two<'a>(operands: &[&'a Tensor]) -> [&'a Tensor; 2] {
    let &[x, y] = operands else {
        panic!("two operands, not {}", operands.len());
    };
    [x, y]
}

/// Returns the operands of a ternary function.
pub(super) fn three<'a>(operands: &[&'a Tensor]) -> [&'a Tensor; 3] {
    let &[x, y, z] = operands else {
        panic!("three operands, not {}", operands.len());
    };
    [x, y, z]
}

/// Panics for operands that the verifier rejects.
pub(super) fn undefined<T>(dtype: DType) -> T {
    panic!("not defined on {dtype}")
}

/// Applies `f` at every position.
pub(super) fn map<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: impl Fn(T) -> T,
) -> Result<Tensor, EvalError> {
    cx.count(T::DTYPE, x.shape())?;
    let elements = x.elements::<T>().iter().map(|&x| f(x)).collect();
    Ok(Tensor::of(x.shape().to_vec(), elements))
}

/// Applies a function that fails for some elements, as [`map`] does.
fn try_map<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: &dyn Fn(T) -> Result<T, EvalError>,
) -> Result<Tensor, EvalError> {
    cx.count(T::DTYPE, x.shape())?;
    let elements: Result<Vec<T>, EvalError> = x.elements::<T>().iter().map(|&x| f(x)).collect();
    Ok(Tensor::of(x.shape().to_vec(), elements?))
}

/// Applies a function of floats, as [`map`] does.
pub(super) fn map_float(
    cx: &EvalCx<'_>,
    x: &Tensor,
    on_f32: fn(f32) -> f32,
    on_f64: fn(f64) -> f64,
) -> Result<Tensor, EvalError> {
    let dtype = x.dtype();
    with_float!(dtype, T => map::<T>(cx, x, |x| x.apply(on_f32, on_f64)), else undefined(dtype))
}

/// Applies a function that wraps on integers, as [`map`] does. `exactly` is the exact function; a result that differs
/// from it is an error if the context refuses overflow.
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

/// Returns `wrapped` if it is the exact result.
fn fits<T: Num>(wrapped: T, exact: Option<i128>) -> Result<T, EvalError> {
    if wrapped.to_i128() != exact {
        return Err(EvalError::Overflow);
    }
    Ok(wrapped)
}

/// Returns an integer as an `i128`; 0 for floats.
fn exact<T: Num>(x: T) -> i128 {
    x.to_i128().unwrap_or(0)
}

/// Returns the quotient.
///
/// # Errors
///
/// If an integer is divided by 0, or the smallest integer by -1.
pub(super) fn divide<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.div(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: exact(y),
    })
}

/// Returns the remainder of the truncated quotient.
///
/// # Errors
///
/// If an integer is divided by 0.
pub(super) fn remainder<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.remainder(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: 0,
    })
}

/// Returns the remainder of the quotient that is rounded down.
///
/// # Errors
///
/// If an integer is divided by 0.
pub(super) fn modulo<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.modulo(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: 0,
    })
}

/// Returns the power.
///
/// # Errors
///
/// If the integer 0 is raised to a negative exponent, or an integer overflows and the context refuses that.
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

/// Applies `f` at every position of the shape that both operands broadcast to.
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

/// Applies a function that fails for some elements, as [`zip`] does.
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

/// Applies a function of floats, as [`zip`] does.
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

/// Applies a function that wraps on integers, as [`zip`] does. `exactly` is the exact function; a result that differs
/// from it is an error if the context refuses overflow.
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

/// Compares two operands at every position of the shape that both broadcast to.
pub(super) fn compare<T: Element>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; 2],
    holds: fn(&T, &T) -> bool,
) -> Result<Tensor, EvalError> {
    zip(cx, operands, |x: T, y: T| holds(&x, &y))
}

/// Selects between two operands at every position of the shape that all three broadcast to: the second operand where
/// the first, which is boolean, is true, else the third.
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

/// Applies a ternary function at every position of the shape that the operands broadcast to.
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

/// Broadcasts `operands` for a result of elements `R`.
///
/// # Errors
///
/// If the shapes do not broadcast, or the result is too large.
fn broadcast<R: Element, const N: usize>(
    cx: &EvalCx<'_>,
    operands: [&Tensor; N],
) -> Result<Broadcast<N>, EvalError> {
    let broadcast = Broadcast::of(operands.map(Tensor::shape))?;
    cx.count(R::DTYPE, broadcast.shape())?;
    Ok(broadcast)
}
