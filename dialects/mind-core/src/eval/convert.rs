//! Numbers in another dtype.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

/// The elements of `input` in the dtype `to`, as [`Cast`](crate::ops::convert::Cast) says.
///
/// # Errors
///
/// E6004 a result too large.
pub fn cast(cx: &EvalCx<'_>, input: &Tensor, to: DType) -> Result<Tensor, EvalError> {
    cx.count(to, input.shape())?;
    let numbers = with_num!(input.dtype(), T => input.elements::<T>().iter().map(|&x| number(x)).collect(), else {
        input.elements::<bool>().iter().map(|&x| Number::Integer(x.into())).collect::<Vec<Number>>()
    });
    let shape = input.shape().to_vec();
    Ok(
        with_num!(to, T => Tensor::of(shape, numbers.into_iter().map(element::<T>).collect()), else {
            Tensor::of(shape, numbers.into_iter().map(|number| number.is_true()).collect::<Vec<bool>>())
        }),
    )
}

/// An element of any dtype, exactly.
enum Number {
    Integer(i128),
    Float(f64),
}

fn number<T: Num>(x: T) -> Number {
    match x.to_i128() {
        Some(integer) => Number::Integer(integer),
        None => Number::Float(x.to_f64()),
    }
}

fn element<T: Num>(number: Number) -> T {
    match number {
        Number::Integer(value) => T::from_i128(value),
        Number::Float(value) => T::cast_f64(value),
    }
}

impl Number {
    /// Whether it is not zero, as NaN.
    fn is_true(&self) -> bool {
        match self {
            Number::Integer(value) => *value != 0,
            Number::Float(value) => *value != 0.0,
        }
    }
}
