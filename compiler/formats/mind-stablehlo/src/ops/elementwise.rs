//! Elementwise functions.

use std::rc::Rc;

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::Direction;
use mind_core::ops::convert::Bitcast;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, DTypeClass};

use super::Row;
use crate::constant::Constant;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::{Compared, Value, Values};

pub(super) const ROWS: &[Row] = &[
    Row::scalar("stablehlo.and", ScalarFn::And),
    Row::scalar("stablehlo.atan2", ScalarFn::Atan2),
    Row::scalar("stablehlo.divide", ScalarFn::Div),
    Row::scalar("stablehlo.not", ScalarFn::Not),
    Row::scalar("stablehlo.or", ScalarFn::Or),
    Row::scalar("stablehlo.power", ScalarFn::Pow),
    Row::scalar("stablehlo.remainder", ScalarFn::Remainder),
    Row::scalar("stablehlo.select", ScalarFn::Select),
    Row::scalar("stablehlo.shift_left", ScalarFn::ShiftLeft),
    Row::scalar("stablehlo.shift_right_arithmetic", ScalarFn::ShiftRight),
    Row::scalar("stablehlo.sign", ScalarFn::Sign),
    Row::scalar("stablehlo.subtract", ScalarFn::Sub),
    Row::scalar("stablehlo.xor", ScalarFn::Xor),
    Row::pointwise("stablehlo.abs", |n| function(n, ScalarFn::Abs)),
    Row::pointwise("stablehlo.ceil", |n| function(n, ScalarFn::Ceil)),
    Row::pointwise("stablehlo.cosine", |n| function(n, ScalarFn::Cos)),
    Row::pointwise("stablehlo.exponential", |n| function(n, ScalarFn::Exp)),
    Row::pointwise("stablehlo.exponential_minus_one", |n| {
        function(n, ScalarFn::Expm1)
    }),
    Row::pointwise("stablehlo.floor", |n| function(n, ScalarFn::Floor)),
    Row::pointwise("stablehlo.log", |n| function(n, ScalarFn::Log)),
    Row::pointwise("stablehlo.log_plus_one", |n| function(n, ScalarFn::Log1p)),
    Row::pointwise("stablehlo.logistic", |n| function(n, ScalarFn::Sigmoid)),
    Row::pointwise("stablehlo.round_nearest_even", |n| {
        function(n, ScalarFn::Round)
    }),
    Row::pointwise("stablehlo.rsqrt", |n| function(n, ScalarFn::Rsqrt)),
    Row::pointwise("stablehlo.sine", |n| function(n, ScalarFn::Sin)),
    Row::pointwise("stablehlo.sqrt", |n| function(n, ScalarFn::Sqrt)),
    Row::pointwise("stablehlo.tan", |n| function(n, ScalarFn::Tan)),
    Row::pointwise("stablehlo.tanh", |n| function(n, ScalarFn::Tanh)),
    Row::pointwise("chlo.acos", |n| function(n, ScalarFn::Acos)),
    Row::pointwise("chlo.acosh", |n| function(n, ScalarFn::Acosh)),
    Row::pointwise("chlo.asin", |n| function(n, ScalarFn::Asin)),
    Row::pointwise("chlo.asinh", |n| function(n, ScalarFn::Asinh)),
    Row::pointwise("chlo.atan", |n| function(n, ScalarFn::Atan)),
    Row::pointwise("chlo.atanh", |n| function(n, ScalarFn::Atanh)),
    Row::pointwise("chlo.cosh", |n| function(n, ScalarFn::Cosh)),
    Row::pointwise("chlo.erf", |n| function(n, ScalarFn::Erf)),
    Row::pointwise("chlo.sinh", |n| function(n, ScalarFn::Sinh)),
    Row::pointwise("chlo.tan", |n| function(n, ScalarFn::Tan)),
    Row::pointwise("stablehlo.add", |n| logical(n, ScalarFn::Add, ScalarFn::Or)),
    Row::pointwise("stablehlo.multiply", |n| {
        logical(n, ScalarFn::Mul, ScalarFn::And)
    }),
    Row::pointwise("stablehlo.maximum", |n| {
        logical(n, ScalarFn::Maximum, ScalarFn::Or)
    }),
    Row::pointwise("stablehlo.minimum", |n| {
        logical(n, ScalarFn::Minimum, ScalarFn::And)
    }),
    Row::pointwise("stablehlo.negate", |n| {
        let x = n.only()?;
        if n.e.dtype(x).class() != DTypeClass::Unsigned {
            return n.e.apply(ScalarFn::Neg, &[x]);
        }
        let zero = n.e.number(n.e.dtype(x), 0.0);
        n.e.apply(ScalarFn::Sub, &[zero, x])
    }),
    Row::pointwise("stablehlo.clamp", |n| {
        n.count(3)?;
        let (low, x, high) = (n.input(0)?, n.input(1)?, n.input(2)?);
        let x = n.e.apply(ScalarFn::Maximum, &[x, low])?;
        n.e.apply(ScalarFn::Minimum, &[x, high])
    }),
    Row::values("stablehlo.compare", compare).folding(),
    Row::pointwise("stablehlo.convert", |n| {
        let to = n.result_dtype()?;
        let x = n.only()?;
        n.e.convert(x, to)
    }),
    Row::pointwise("stablehlo.is_finite", |n| {
        let x = n.only()?;
        let size = n.e.apply(ScalarFn::Abs, &[x])?;
        let infinity = n.e.number(n.e.dtype(x), f64::INFINITY);
        n.e.compare(Direction::Lt, size, infinity)
    }),
    Row::pointwise("stablehlo.round_nearest_afz", away_from_zero),
    Row::pointwise("stablehlo.cbrt", cube_root),
    Row::pointwise("stablehlo.shift_right_logical", shift_right),
    Row::pointwise("stablehlo.popcnt", |n| {
        let x = n.only()?;
        unsigned(&mut n.e, x, bits_set)
    }),
    Row::pointwise("stablehlo.count_leading_zeros", |n| {
        let x = n.only()?;
        unsigned(&mut n.e, x, leading_zeros)
    }),
    Row::pointwise("stablehlo.reduce_precision", reduce_precision),
    Row::one("stablehlo.bitcast_convert", |n| {
        let to = n.result_dtype()?;
        let x = n.only()?;
        Ok(Bitcast::with(to).build(&mut n.e, x)?)
    }),
];

/// Imports a unary function. The requested accuracy is a hint and is ignored.
fn function(n: &mut Node<'_, '_, '_>, function: ScalarFn) -> One {
    n.ignore(&["result_accuracy"]);
    n.apply(function)
}

/// Imports an op that is one function on numbers and another one on booleans.
fn logical(n: &mut Node<'_, '_, '_>, numbers: ScalarFn, truth: ScalarFn) -> One {
    n.count(2)?;
    let operands = [n.input(0)?, n.input(1)?];
    let is_truth = n.e.dtype(operands[0]) == DType::Bool;
    n.e.apply(if is_truth { truth } else { numbers }, &operands)
}

/// Returns the direction of a comparison.
pub(super) fn direction(word: Option<&str>) -> Result<Direction, Refusal> {
    Ok(match word {
        Some("EQ") => Direction::Eq,
        Some("NE") => Direction::Ne,
        Some("LT") => Direction::Lt,
        Some("LE") => Direction::Le,
        Some("GT") => Direction::Gt,
        Some("GE") => Direction::Ge,
        Some(other) => {
            let words = ["EQ", "NE", "LT", "LE", "GT", "GE"];
            return Err(Refusal::word("comparison_direction", other, &words));
        }
        None => return Err(Refusal::missing("comparison_direction")),
    })
}

fn compare(n: &mut Node<'_, '_, '_>) -> Values {
    n.count(2)?;
    let direction = direction(n.word(0, &["comparison_direction"]))?;
    let order = n.word(1, &["compare_type"]).unwrap_or("");
    if let Some(own) = compared(direction, n.given(0)?, n.given(1)?) {
        return Ok(vec![own]);
    }
    let [mut lhs, mut rhs] = [n.input(0)?, n.input(1)?];
    let is_float = n.e.dtype(lhs).class() == DTypeClass::Float;
    match order {
        "TOTALORDER" if is_float => {
            lhs = total_order(&mut n.e, lhs)?;
            rhs = total_order(&mut n.e, rhs)?;
        }
        "" | "FLOAT" | "SIGNED" | "UNSIGNED" | "TOTALORDER" | "NOTYPE" => {}
        other => {
            let words = ["FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];
            return Err(Refusal::word("compare_type", other, &words));
        }
    }
    Ok(vec![Value::Op(n.e.compare(direction, lhs, rhs)?)])
}

/// Returns a comparison of extents. For scalars it is folded if both sides are the same extent, or for `>=` with a
/// bound of at most 0, because extents are not negative.
fn compared(direction: Direction, lhs: &Value, rhs: &Value) -> Option<Value> {
    let (Value::Extents(own), true) = (lhs, matches!(rhs, Value::Extents(_) | Value::Known(_)))
    else {
        return None;
    };
    let known = match rhs {
        Value::Extents(other) if own.elements == other.elements => Some(match direction {
            Direction::Eq | Direction::Le | Direction::Ge => true,
            Direction::Ne | Direction::Lt | Direction::Gt => false,
        }),
        Value::Known(bound) if direction == Direction::Ge => {
            bound.number().filter(|bound| *bound <= 0.0).map(|_| true)
        }
        Value::Extents(_) | Value::Known(_) | Value::Op(_) | Value::Compared(_) => None,
    };
    Some(match known {
        Some(truth) if own.is_scalar => {
            let truth = mind_ir::tensor::Tensor::scalar(truth);
            Value::Known(Rc::new(Constant::of(&truth)))
        }
        Some(_) | None => Value::Compared(Rc::new(Compared {
            direction,
            lhs: lhs.clone(),
            rhs: rhs.clone(),
        })),
    })
}

/// Returns the signed integer dtype of the same width.
fn signed(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

/// Maps floats to integers in their total order: -NaN, -inf, .., -0, +0, .., inf, NaN.
pub(super) fn total_order(e: &mut Emit<'_>, x: ValueId) -> One {
    let of = signed(e.dtype(x));
    let bits = Bitcast::with(of).build(e, x)?;
    let largest = ((1u128 << (8 * of.size() - 1)) - 1) as i64;
    let mask = mind_ir::tensor::Tensor::scalar(largest);
    let mask = mind_convert::converted(&mask, of);
    let mask = e.tensor(&mask);
    let zero = e.number(of, 0.0);
    let is_negative = e.compare(Direction::Lt, bits, zero)?;
    let mirrored = e.apply(ScalarFn::Xor, &[bits, mask])?;
    e.apply(ScalarFn::Select, &[is_negative, mirrored, bits])
}

/// Rounds to the nearest integer, with ties away from zero.
fn away_from_zero(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.only()?;
    let whole = n.e.apply(ScalarFn::Trunc, &[x])?;
    let left = n.e.apply(ScalarFn::Sub, &[x, whole])?;
    let left = n.e.apply(ScalarFn::Abs, &[left])?;
    let half = n.e.number(n.e.dtype(x), 0.5);
    let is_more = n.e.compare(Direction::Ge, left, half)?;
    let sign = n.e.apply(ScalarFn::Sign, &[x])?;
    let next = n.e.apply(ScalarFn::Add, &[whole, sign])?;
    n.e.apply(ScalarFn::Select, &[is_more, next, whole])
}

/// Computes the cube root in `f64` as the sign times the magnitude to the power 1/3; zeros keep their sign.
fn cube_root(n: &mut Node<'_, '_, '_>) -> One {
    n.ignore(&["result_accuracy"]);
    let x = n.only()?;
    let of = n.e.dtype(x);
    let wide = n.e.convert(x, DType::F64)?;
    let size = n.e.apply(ScalarFn::Abs, &[wide])?;
    let root = n.e.apply_number(ScalarFn::Pow, size, 1.0 / 3.0)?;
    let sign = n.e.apply(ScalarFn::Sign, &[wide])?;
    let own = n.e.apply(ScalarFn::Mul, &[sign, root])?;
    n.e.convert(own, of)
}

/// Shifts in zeros; signed integers are shifted as unsigned ones.
fn shift_right(n: &mut Node<'_, '_, '_>) -> One {
    n.count(2)?;
    let [x, by] = [n.input(0)?, n.input(1)?];
    let of = n.e.dtype(x);
    if of.class() != DTypeClass::Signed {
        return n.e.apply(ScalarFn::ShiftRight, &[x, by]);
    }
    let plain = unsigned_of(of);
    let x = n.e.convert(x, plain)?;
    let by = n.e.convert(by, plain)?;
    let own = n.e.apply(ScalarFn::ShiftRight, &[x, by])?;
    n.e.convert(own, of)
}

/// Returns the unsigned integer dtype of the same width.
fn unsigned_of(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// Applies a function to the bits of integers in `u64`; `function` receives their width.
fn unsigned(
    e: &mut Emit<'_>,
    x: ValueId,
    function: fn(&mut Emit<'_>, ValueId, usize) -> One,
) -> One {
    let of = e.dtype(x);
    if !matches!(of.class(), DTypeClass::Signed | DTypeClass::Unsigned) {
        return Err(Refusal::dtype("its operand".to_owned(), of, "integers"));
    }
    let plain = e.convert(x, unsigned_of(of))?;
    let wide = e.convert(plain, DType::U64)?;
    let own = function(e, wide, 8 * of.size())?;
    e.convert(own, of)
}

/// Returns a `u64` constant, which `f64` may be unable to represent.
fn mask(e: &mut Emit<'_>, bits: u64) -> ValueId {
    e.tensor(&mind_ir::tensor::Tensor::scalar(bits))
}

fn shifted(e: &mut Emit<'_>, x: ValueId, by: u64) -> One {
    let by = mask(e, by);
    e.apply(ScalarFn::ShiftRight, &[x, by])
}

/// Returns the population count of a `u64`: sums over pairs, over fours, over bytes, then over all bytes.
fn bits_set(e: &mut Emit<'_>, x: ValueId, _: usize) -> One {
    let mut sum = x;
    let steps = [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (8, 0x00ff_00ff_00ff_00ff),
        (16, 0x0000_ffff_0000_ffff),
        (32, 0x0000_0000_ffff_ffff),
    ];
    for (by, bits) in steps {
        let bits = mask(e, bits);
        let upper = shifted(e, sum, by)?;
        let upper = e.apply(ScalarFn::And, &[upper, bits])?;
        let lower = e.apply(ScalarFn::And, &[sum, bits])?;
        sum = e.apply(ScalarFn::Add, &[upper, lower])?;
    }
    Ok(sum)
}

/// Returns the number of leading zeros: the width minus the population count after setting all bits below the highest
/// set one.
fn leading_zeros(e: &mut Emit<'_>, x: ValueId, width: usize) -> One {
    let mut smeared = x;
    for by in [1, 2, 4, 8, 16, 32] {
        let lower = shifted(e, smeared, by)?;
        smeared = e.apply(ScalarFn::Or, &[smeared, lower])?;
    }
    let length = bits_set(e, smeared, width)?;
    let width = mask(e, width as u64);
    e.apply(ScalarFn::Sub, &[width, length])
}

/// Rounds to a float format with the given widths of exponent and mantissa.
fn reduce_precision(n: &mut Node<'_, '_, '_>) -> One {
    let format = match n.text(&["format"]) {
        Some(format) => format.to_owned(),
        None => {
            let (exponent, mantissa) = (n.int(&["exponent_bits"])?, n.int(&["mantissa_bits"])?);
            format!("e{exponent}m{mantissa}")
        }
    };
    let through = match &format[..] {
        "e8m7" => DType::BF16,
        "e5m10" => DType::F16,
        "e8m23" => DType::F32,
        "e11m52" => DType::F64,
        other => {
            return Err(Refusal::word(
                "format",
                other,
                &["e8m7", "e5m10", "e8m23", "e11m52"],
            ));
        }
    };
    let x = n.only()?;
    let of = n.e.dtype(x);
    let narrow = n.e.convert(x, through)?;
    n.e.convert(narrow, of)
}
