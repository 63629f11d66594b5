//! Integer ops: exact in 64 bits, then wrapping to their dtype, as in core.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::Broadcast;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

use super::kernel::one;
use super::scatter::Mode;
use crate::call::integers;

/// Converts integers to `dtype`, wrapping.
pub(crate) fn wrapped(dtype: DType, shape: Vec<usize>, elements: &[i64]) -> Tensor {
    let elements = elements.iter();
    match dtype {
        DType::I8 => Tensor::of(shape, elements.map(|&x| x as i8).collect()),
        DType::I16 => Tensor::of(shape, elements.map(|&x| x as i16).collect()),
        DType::I32 => Tensor::of(shape, elements.map(|&x| x as i32).collect()),
        DType::I64 => Tensor::of(shape, elements.copied().collect()),
        DType::U8 => Tensor::of(shape, elements.map(|&x| x as u8).collect()),
        DType::U16 => Tensor::of(shape, elements.map(|&x| x as u16).collect()),
        DType::U32 => Tensor::of(shape, elements.map(|&x| x as u32).collect()),
        DType::U64 => Tensor::of(shape, elements.map(|&x| x as u64).collect()),
        DType::Bool => Tensor::of(shape, elements.map(|&x| x != 0).collect()),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            unreachable!("{dtype} is not an integer dtype")
        }
    }
}

/// Applies `function` to each element.
pub(crate) fn map(x: &Tensor, function: impl Fn(i64) -> i64) -> Tensor {
    let elements: Vec<i64> = integers(x).into_iter().map(function).collect();
    wrapped(x.dtype(), x.shape().to_vec(), &elements)
}

/// Computes `floor_div` and `pow`.
///
/// # Errors
///
/// Returns E6005 where core's quotient is undefined: for a divisor of 0, the least integer divided by -1, and a
/// negative power of 0.
pub(crate) fn binary(name: &str, cx: &EvalCx<'_>, x: &Tensor, y: &Tensor) -> EvalManyResult {
    let broadcast = Broadcast::of([x.shape(), y.shape()])?;
    cx.count(x.dtype(), broadcast.shape())?;
    let (left, right) = (integers(x), integers(y));
    let result = broadcast.positions().map(|[lhs, rhs]| match name {
        "pow" => power(left[lhs], right[rhs]),
        "floor_div" => floor_div(x.dtype(), left[lhs], right[rhs]),
        other => unreachable!("`{other}` is evaluated elsewhere"),
    });
    let result = result.collect::<Result<Vec<i64>, EvalError>>()?;
    one(wrapped(x.dtype(), broadcast.into_shape(), &result))
}

/// Returns the quotient, rounded down.
fn floor_div(dtype: DType, lhs: i64, rhs: i64) -> Result<i64, EvalError> {
    let least = if dtype == DType::I32 {
        i64::from(i32::MIN)
    } else {
        i64::MIN
    };
    if rhs == 0 || lhs == least && rhs == -1 {
        return Err(undefined(lhs, rhs));
    }
    let (quotient, rest) = (lhs / rhs, lhs % rhs);
    if rest != 0 && (rest < 0) != (rhs < 0) {
        return Ok(quotient - 1);
    }
    Ok(quotient)
}

fn undefined(lhs: i64, rhs: i64) -> EvalError {
    EvalError::Division {
        lhs: i128::from(lhs),
        rhs: i128::from(rhs),
    }
}

/// Returns `base` to the power `exponent`, truncated toward zero.
fn power(base: i64, exponent: i64) -> Result<i64, EvalError> {
    if exponent >= 0 {
        return Ok(base.wrapping_pow(exponent as u32));
    }
    match base {
        0 => Err(undefined(1, 0)),
        1 => Ok(1),
        -1 => Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => Ok(0),
    }
}

/// Combines an update with the existing element.
///
/// # Errors
///
/// Returns E6005 as [`binary`] does.
pub(crate) fn joined(mode: Mode, dtype: DType, old: i64, new: i64) -> Result<i64, EvalError> {
    let result = match mode {
        Mode::Add => old.wrapping_add(new),
        Mode::Update => new,
        Mode::Sub => old.wrapping_sub(new),
        Mode::Mul => old.wrapping_mul(new),
        Mode::Div if floor_div(dtype, old, new).is_err() => return Err(undefined(old, new)),
        Mode::Div => old / new,
        Mode::Max => old.max(new),
        Mode::Min => old.min(new),
    };
    Ok(integers(&wrapped(dtype, Vec::new(), &[result]))[0])
}
