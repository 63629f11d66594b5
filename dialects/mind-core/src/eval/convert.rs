//! Conversion between dtypes.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

/// Converts the elements of `input` to dtype `to`, with the rounding of [`Cast`](crate::ops::convert::Cast).
///
/// # Errors
///
/// E6004 a result too large.
pub fn cast(cx: &EvalCx<'_>, input: &Tensor, to: DType) -> Result<Tensor, EvalError> {
    cx.count(to, input.shape())?;
    Ok(
        with_num!(input.dtype(), T => numbers(input, to, number::<T>), else {
            numbers(input, to, |x: bool| Number::Integer(x.into()))
        }),
    )
}

/// Converts each element to dtype `to` through an exact number.
fn numbers<T: Element>(input: &Tensor, to: DType, number: impl Fn(T) -> Number) -> Tensor {
    let shape = input.shape().to_vec();
    let numbers = input.elements::<T>().iter().map(|&x| number(x));
    with_num!(to, U => Tensor::of(shape, numbers.map(element::<U>).collect()), else {
        Tensor::of(shape, numbers.map(|number| number.is_true()).collect::<Vec<bool>>())
    })
}

/// The exact value of an element of any dtype.
enum Number {
    Integer(i128),
    Float(f64),
}

#[inline(always)]
fn number<T: Num>(x: T) -> Number {
    match x.to_i128() {
        Some(integer) => Number::Integer(integer),
        None => Number::Float(x.to_f64()),
    }
}

#[inline(always)]
fn element<T: Num>(number: Number) -> T {
    match number {
        Number::Integer(value) => T::from_i128(value),
        Number::Float(value) => T::cast_f64(value),
    }
}

impl Number {
    /// Returns whether the number is not zero; true for NaN.
    fn is_true(&self) -> bool {
        match self {
            Number::Integer(value) => *value != 0,
            Number::Float(value) => *value != 0.0,
        }
    }
}
