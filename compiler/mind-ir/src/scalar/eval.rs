//! Elementwise evaluation.

use smallvec::SmallVec;

use super::ScalarFn;
use crate::eval::{EvalCx, EvalError, Overflow};
use crate::tensor::{Element, FloatNum, Num, Tensor, advance, broadcast_strides};
use crate::{with_float, with_num};

/// Applies `function` at every position of the broadcast shape of `operands`.
///
/// # Errors
///
/// Shapes that do not broadcast, a result too large, an integer division without result, an
/// integer overflow where that is refused.
pub fn eval(
    function: ScalarFn,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let dtype = operands[0].dtype();
    match (operands, function.arity()) {
        ([x], 1) if dtype.is_float() => {
            with_float!(dtype, T => unary_float::<T>(function, cx, x), else unreachable!())
        }
        ([x], 1) => with_num!(dtype, T => unary_int::<T>(function, cx, x), else unsupported(dtype)),
        ([x, y], 2) => {
            with_num!(dtype, T => binary::<T>(function, cx, x, y), else unsupported(dtype))
        }
        _ => panic!("{function:?} takes {} operands", function.arity()),
    }
}

fn unsupported<T>(dtype: crate::types::DType) -> Result<T, EvalError> {
    panic!("verified operands are numeric, found {dtype}")
}

fn map<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    f: impl Fn(T) -> Result<T, EvalError>,
) -> Result<Tensor, EvalError> {
    cx.count(T::DTYPE, x.shape())?;
    let elements: Result<Vec<T>, EvalError> = x.elements::<T>().iter().map(|&x| f(x)).collect();
    Ok(Tensor::of(x.shape().to_vec(), elements?))
}

fn unary_float<T: FloatNum>(
    function: ScalarFn,
    cx: &EvalCx<'_>,
    x: &Tensor,
) -> Result<Tensor, EvalError> {
    if let Some((on_f32, on_f64)) = function.on_numbers() {
        return map::<T>(cx, x, |x| Ok(x.apply(on_f32, on_f64)));
    }
    match function {
        ScalarFn::Neg => map::<T>(cx, x, |x| Ok(x.neg())),
        ScalarFn::Abs => map::<T>(cx, x, |x| Ok(x.abs())),
        ScalarFn::Relu => map::<T>(cx, x, |x| Ok(x.relu())),
        ScalarFn::Sqrt => map::<T>(cx, x, |x| Ok(x.sqrt())),
        ScalarFn::Exp
        | ScalarFn::Log
        | ScalarFn::Erf
        | ScalarFn::Tanh
        | ScalarFn::Sigmoid
        | ScalarFn::Gelu => unreachable!("{function:?} is made of steps"),
        ScalarFn::Add
        | ScalarFn::Sub
        | ScalarFn::Mul
        | ScalarFn::Div
        | ScalarFn::Maximum
        | ScalarFn::Minimum => unreachable!("{function:?} takes two operands"),
    }
}

fn unary_int<T: Num>(function: ScalarFn, cx: &EvalCx<'_>, x: &Tensor) -> Result<Tensor, EvalError> {
    match function {
        ScalarFn::Neg => map::<T>(cx, x, |x| fits(cx, x.neg(), || exact(x).checked_neg())),
        ScalarFn::Abs => map::<T>(cx, x, |x| fits(cx, x.abs(), || exact(x).checked_abs())),
        ScalarFn::Relu => map::<T>(cx, x, |x| Ok(x.relu())),
        ScalarFn::Exp
        | ScalarFn::Log
        | ScalarFn::Sqrt
        | ScalarFn::Erf
        | ScalarFn::Tanh
        | ScalarFn::Sigmoid
        | ScalarFn::Gelu => panic!("verified operands of {function:?} are floats"),
        ScalarFn::Add
        | ScalarFn::Sub
        | ScalarFn::Mul
        | ScalarFn::Div
        | ScalarFn::Maximum
        | ScalarFn::Minimum => unreachable!("{function:?} takes two operands"),
    }
}

/// `wrapped`, unless it differs from the exact result where that is refused.
fn fits<T: Num>(
    cx: &EvalCx<'_>,
    wrapped: T,
    exact: impl FnOnce() -> Option<i128>,
) -> Result<T, EvalError> {
    if !T::IS_FLOAT && cx.overflow == Overflow::Refuse && wrapped.to_i128() != exact() {
        return Err(EvalError::Overflow);
    }
    Ok(wrapped)
}

fn exact<T: Num>(x: T) -> i128 {
    x.to_i128().unwrap_or(0)
}

fn binary<T: Num>(
    function: ScalarFn,
    cx: &EvalCx<'_>,
    x: &Tensor,
    y: &Tensor,
) -> Result<Tensor, EvalError> {
    match function {
        ScalarFn::Add => zip::<T>(cx, x, y, |x, y| {
            fits(cx, x.add(y), || exact(x).checked_add(exact(y)))
        }),
        ScalarFn::Sub => zip::<T>(cx, x, y, |x, y| {
            fits(cx, x.sub(y), || exact(x).checked_sub(exact(y)))
        }),
        ScalarFn::Mul => zip::<T>(cx, x, y, |x, y| {
            fits(cx, x.mul(y), || exact(x).checked_mul(exact(y)))
        }),
        ScalarFn::Div => zip::<T>(cx, x, y, divide),
        ScalarFn::Maximum => zip::<T>(cx, x, y, |x, y| Ok(x.maximum(y))),
        ScalarFn::Minimum => zip::<T>(cx, x, y, |x, y| Ok(x.minimum(y))),
        ScalarFn::Neg
        | ScalarFn::Abs
        | ScalarFn::Relu
        | ScalarFn::Exp
        | ScalarFn::Log
        | ScalarFn::Sqrt
        | ScalarFn::Erf
        | ScalarFn::Tanh
        | ScalarFn::Sigmoid
        | ScalarFn::Gelu => unreachable!("{function:?} takes one operand"),
    }
}

fn divide<T: Num>(x: T, y: T) -> Result<T, EvalError> {
    x.div(y).ok_or_else(|| EvalError::Division {
        lhs: exact(x),
        rhs: exact(y),
    })
}

fn zip<T: Element>(
    cx: &EvalCx<'_>,
    x: &Tensor,
    y: &Tensor,
    f: impl Fn(T, T) -> Result<T, EvalError>,
) -> Result<Tensor, EvalError> {
    let shape = broadcast_extents(x.shape(), y.shape())?;
    let count = cx.count(T::DTYPE, &shape)?;
    let (xs, ys) = (x.elements::<T>(), y.elements::<T>());
    if x.shape() == y.shape() {
        let elements: Result<Vec<T>, EvalError> =
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
