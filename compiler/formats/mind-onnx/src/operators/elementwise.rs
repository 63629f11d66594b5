//! Imports elementwise functions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::convert::{Bitcast, Cast};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, DTypeClass, Dim};

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[
    Operator::scalar("Abs", &[6, 13], ScalarFn::Abs),
    Operator::scalar("Acos", &[7, 22], ScalarFn::Acos),
    Operator::scalar("Acosh", &[9, 22], ScalarFn::Acosh),
    Operator::scalar("Asin", &[7, 22], ScalarFn::Asin),
    Operator::scalar("Asinh", &[9, 22], ScalarFn::Asinh),
    Operator::scalar("Atan", &[7, 22], ScalarFn::Atan),
    Operator::scalar("Atanh", &[9, 22], ScalarFn::Atanh),
    Operator::scalar("Ceil", &[6, 13], ScalarFn::Ceil),
    Operator::scalar("Cos", &[7, 22], ScalarFn::Cos),
    Operator::scalar("Cosh", &[9, 22], ScalarFn::Cosh),
    Operator::scalar("Erf", &[9, 13], ScalarFn::Erf),
    Operator::scalar("Exp", &[6, 13], ScalarFn::Exp),
    Operator::scalar("Floor", &[6, 13], ScalarFn::Floor),
    Operator::scalar("Log", &[6, 13], ScalarFn::Log),
    Operator::scalar("Neg", &[6, 13], ScalarFn::Neg),
    Operator::scalar("Round", &[11, 22], ScalarFn::Round),
    Operator::scalar("Sigmoid", &[6, 13], ScalarFn::Sigmoid),
    Operator::scalar("Sign", &[9, 13], ScalarFn::Sign),
    Operator::scalar("Sin", &[7, 22], ScalarFn::Sin),
    Operator::scalar("Sinh", &[9, 22], ScalarFn::Sinh),
    Operator::scalar("Sqrt", &[6, 13], ScalarFn::Sqrt),
    Operator::scalar("Tan", &[7, 22], ScalarFn::Tan),
    Operator::scalar("Tanh", &[6, 13], ScalarFn::Tanh),
    Operator::scalar("Not", &[1], ScalarFn::Not),
    Operator::scalar("BitwiseNot", &[18], ScalarFn::Not),
    Operator::one("Add", &[6, 7, 13, 14], |n| broadcast(n, ScalarFn::Add)),
    Operator::one("Sub", &[6, 7, 13, 14], |n| broadcast(n, ScalarFn::Sub)),
    Operator::one("Mul", &[6, 7, 13, 14], |n| broadcast(n, ScalarFn::Mul)),
    Operator::one("Div", &[6, 7, 13, 14], |n| broadcast(n, ScalarFn::Div)),
    Operator::scalar("And", &[7], ScalarFn::And),
    Operator::scalar("Or", &[7], ScalarFn::Or),
    Operator::scalar("Xor", &[7], ScalarFn::Xor),
    Operator::scalar("BitwiseAnd", &[18], ScalarFn::And),
    Operator::scalar("BitwiseOr", &[18], ScalarFn::Or),
    Operator::scalar("BitwiseXor", &[18], ScalarFn::Xor),
    Operator::scalar("Where", &[9, 16], ScalarFn::Select),
    Operator::one("Reciprocal", &[6, 13], |n| {
        let x = n.input(0)?;
        let one = n.e.number(n.e.dtype(x), 1.0);
        n.e.apply(ScalarFn::Div, &[one, x])
    }),
    Operator::one("Equal", &[7, 11, 13, 19], |n| compare(n, Direction::Eq)),
    Operator::one("Less", &[7, 9, 13], |n| compare(n, Direction::Lt)),
    Operator::one("LessOrEqual", &[12, 16], |n| compare(n, Direction::Le)),
    Operator::one("Greater", &[7, 9, 13], |n| compare(n, Direction::Gt)),
    Operator::one("GreaterOrEqual", &[12, 16], |n| compare(n, Direction::Ge)),
    Operator::one("IsNaN", &[9, 13, 20], |n| {
        let x = n.input(0)?;
        Ok(Compare::with(Direction::Ne).build(&mut n.e, x, x)?)
    }),
    Operator::one("IsInf", &[10, 20], is_inf),
    Operator::one("Max", &[6, 8, 12, 13], |n| chain(n, ScalarFn::Maximum)),
    Operator::one("Min", &[6, 8, 12, 13], |n| chain(n, ScalarFn::Minimum)),
    Operator::one("Sum", &[6, 8, 13], |n| chain(n, ScalarFn::Add)),
    Operator::one("Mean", &[6, 8, 13], |n| {
        let count = n.inputs.len() as f64;
        let sum = chain(n, ScalarFn::Add)?;
        n.e.apply_number(ScalarFn::Div, sum, count)
    }),
    Operator::one("Clip", &[6, 11, 12, 13], clip),
    Operator::one("Pow", &[1, 7, 12, 13, 15], |n| {
        if n.opset < 7 {
            broadcast(n, ScalarFn::Pow)
        } else {
            pow(n)
        }
    }),
    Operator::one("Mod", &[10, 13], |n| match n.flag("fmod")? {
        true => n.apply(ScalarFn::Remainder),
        false => n.apply(ScalarFn::Mod),
    }),
    Operator::one("BitShift", &[11, 28], shift),
    Operator::one("Cast", &[6, 9, 13, 19, 21, 23, 24, 25], cast).moving(),
    Operator::one("CastLike", &[15, 19, 21, 23, 24, 25], |n| {
        saturates(n)?;
        let (x, like) = (n.input(0)?, n.input(1)?);
        n.e.convert(x, n.e.dtype(like))
    }),
    Operator::one("BitCast", &[26], |n| {
        let to = wanted_dtype(n)?;
        let x = n.input(0)?;
        Ok(Bitcast::with(to).build(&mut n.e, x)?)
    }),
];

fn compare(n: &mut Node<'_, '_, '_>, direction: Direction) -> One {
    let (lhs, rhs) = (n.input(0)?, n.input(1)?);
    Ok(Compare::with(direction).build(&mut n.e, lhs, rhs)?)
}

/// Folds all inputs from left to right.
fn chain(n: &mut Node<'_, '_, '_>, function: ScalarFn) -> One {
    let all = n.all()?;
    let (&first, rest) = all.split_first().expect("inputs");
    let mut combined = rest.iter();
    combined.try_fold(first, |own, &next| n.e.apply(function, &[own, next]))
}

/// Broadcasts both operands. Before opset 7 only the second one is broadcast, if the attribute `broadcast` is set, with
/// `axis` as its first dimension.
fn broadcast(n: &mut Node<'_, '_, '_>, function: ScalarFn) -> One {
    if n.opset >= 7 {
        return n.apply(function);
    }
    let (flag, axis) = (n.flag("broadcast")?, n.int("axis")?);
    let (lhs, mut rhs) = (n.input(0)?, n.input(1)?);
    if let (true, Some(axis)) = (flag, axis) {
        let (rank, mut shape) = (n.e.rank(lhs), n.e.dims(rhs));
        let behind = rank - n.e.axis(axis, rank)?;
        shape.resize(behind.max(shape.len()), Dim::Fixed(1));
        rhs = n.e.reshape(rhs, &shape)?;
    }
    n.e.apply(function, &[lhs, rhs])
}

fn is_inf(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let positive = n.int("detect_positive")? != Some(0);
    let negative = n.int("detect_negative")? != Some(0);
    let (of, sign) = match (positive, negative) {
        (true, true) => (n.e.apply(ScalarFn::Abs, &[x])?, 1.0),
        (true, false) => (x, 1.0),
        (false, true) => (x, -1.0),
        // No number is above infinity.
        (false, false) => return greater_than_infinity(&mut n.e, x),
    };
    let infinity = n.e.number(n.e.dtype(x), sign * f64::INFINITY);
    Ok(Compare::with(Direction::Eq).build(&mut n.e, of, infinity)?)
}

fn greater_than_infinity(e: &mut Emit<'_>, x: ValueId) -> One {
    let infinity = e.number(e.dtype(x), f64::INFINITY);
    Ok(Compare::with(Direction::Gt).build(e, x, infinity)?)
}

fn clip(n: &mut Node<'_, '_, '_>) -> One {
    let mut x = n.input(0)?;
    let (low, high) = if n.opset < 11 {
        let of = n.e.dtype(x);
        let bounds = [n.float("min")?, n.float("max")?];
        let [low, high] = bounds.map(|bound| bound.map(|bound| n.e.number(of, bound)));
        (low, high)
    } else {
        (n.optional(1)?, n.optional(2)?)
    };
    if let Some(low) = low {
        x = n.e.apply(ScalarFn::Maximum, &[x, low])?;
    }
    if let Some(high) = high {
        x = n.e.apply(ScalarFn::Minimum, &[x, high])?;
    }
    Ok(x)
}

/// Imports a power. Mixed dtypes are computed in `f64` or in the wider integer dtype, and converted to the dtype of the
/// base.
fn pow(n: &mut Node<'_, '_, '_>) -> One {
    let (base, exponent) = (n.input(0)?, n.input(1)?);
    let (own, other) = (n.e.dtype(base), n.e.dtype(exponent));
    if own == other {
        return n.e.apply(ScalarFn::Pow, &[base, exponent]);
    }
    let is_integer =
        |dtype: DType| matches!(dtype.class(), DTypeClass::Signed | DTypeClass::Unsigned);
    let wide = match is_integer(own) && is_integer(other) {
        true => DType::I64,
        false => DType::F64,
    };
    let (x, y) = (n.e.convert(base, wide)?, n.e.convert(exponent, wide)?);
    let power = n.e.apply(ScalarFn::Pow, &[x, y])?;
    n.e.convert(power, own)
}

/// Shifts bits; right shifts are logical.
fn shift(n: &mut Node<'_, '_, '_>) -> One {
    let function = match n.word("direction")? {
        Some("LEFT") => ScalarFn::ShiftLeft,
        Some("RIGHT") => ScalarFn::ShiftRight,
        other => {
            let found = other.map_or_else(|| "missing".to_owned(), |own| format!("\"{own}\""));
            return Err(Refusal::value("direction", found, "\"LEFT\" or \"RIGHT\""));
        }
    };
    n.apply(function)
}

fn cast(n: &mut Node<'_, '_, '_>) -> One {
    saturates(n)?;
    let to = wanted_dtype(n)?;
    let x = n.input(0)?;
    if n.e.dtype(x) == to {
        return Ok(x);
    }
    Ok(Cast::with(to).build(&mut n.e, x)?)
}

/// Ignores `saturate` and `round_mode`, which only affect 8-bit floats, because core does not have these.
fn saturates(n: &Node<'_, '_, '_>) -> Result<(), Refusal> {
    n.ignore("saturate");
    n.ignore("round_mode");
    Ok(())
}

fn wanted_dtype(n: &Node<'_, '_, '_>) -> Result<DType, Refusal> {
    let to = n.int("to")?.ok_or_else(|| Refusal::missing("to"))?;
    dtype(to)
}
