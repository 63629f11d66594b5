//! Integers: comparisons, choices, quotients, and the narrower types that indices come in.

use mind_core::ops::index::Gather;
use mind_ir::graph::Graph;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::{Call, argument_at};
use mind_mil::ops::{self, index, unary};

use crate::emit::{Emit, Imported};
use crate::refuse::Refused;

/// Arguments `x` and `y` where they are `i32`.
pub(crate) fn pair(op: OpId, e: &mut Emit<'_>) -> Result<Option<[ValueId; 2]>, Box<Refused>> {
    let [x, y] = [e.argument(op, "x")?, e.argument(op, "y")?];
    let whole = e.dtype(x) == DType::I32 && e.dtype(y) == DType::I32;
    Ok(whole.then_some([x, y]))
}

fn limited(e: &mut Emit<'_>, x: ValueId, least: i32, most: i32) -> Imported {
    let [least, most] = [least, most].map(|bound| e.constant(&Tensor::scalar(bound)));
    let x = e.max(x, least)?;
    e.min(x, most)
}

/// 1 where `x` is not 0, else 0.
pub(crate) fn nonzero(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let sign = limited(e, x, -1, 1)?;
    let size = e.mul(sign, sign)?;
    Ok(e.flag(size))
}

/// 1 where `x` is above `y`, else 0: `max(x, y) - y`, which wraps, is 0 nowhere else.
pub(crate) fn above(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> Imported {
    let larger = e.max(x, y)?;
    let distance = e.sub(larger, y)?;
    nonzero(e, distance)
}

/// `a` where the condition holds, else `b`: the difference wraps, and so does its sum with `b`.
pub(crate) fn select(e: &mut Emit<'_>, cond: ValueId, a: ValueId, b: ValueId) -> Imported {
    if e.dtype(cond) != DType::I32 || e.dtype(b) != DType::I32 {
        return Err(Refused::new("core makes no integers of floats"));
    }
    let distance = e.sub(a, b)?;
    let chosen = e.mul(distance, cond)?;
    let chosen = e.add(b, chosen)?;
    if e.is_flag(a) && e.is_flag(b) {
        Ok(e.flag(chosen))
    } else {
        Ok(chosen)
    }
}

/// A truth value in the float `dtype`: the entry of a table of two.
///
/// # Errors
///
/// An integer that is no truth value.
pub(crate) fn as_float(e: &mut Emit<'_>, x: ValueId, dtype: DType) -> Imported {
    if e.dtype(x).is_float() {
        return e.convert(x, dtype);
    }
    if !e.is_flag(x) {
        let from = e.dtype(x);
        return Err(Refused::new(format!("core makes no floats of {from}")));
    }
    let table = e.constant(&Tensor::of(vec![2], vec![0f32, 1.0]));
    let table = e.convert(table, dtype)?;
    Ok(Gather::with().axis(0).build(&mut e.b, table, x)?)
}

/// The largest integer that is not above `x / y`.
pub(crate) fn floor_div(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> Imported {
    let (quotient, _, under) = divided(e, x, y)?;
    e.add(quotient, under)
}

/// `x - y floor(x / y)`.
pub(crate) fn modulo(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> Imported {
    let (_, rest, under) = divided(e, x, y)?;
    let shift = e.mul(under, y)?;
    e.sub(rest, shift)
}

/// The quotient, cut off toward zero; the rest; and -1 where the rest and the divisor have other signs, else 0.
fn divided(
    e: &mut Emit<'_>,
    x: ValueId,
    y: ValueId,
) -> Result<(ValueId, ValueId, ValueId), Box<Refused>> {
    let quotient = e.div(x, y)?;
    let product = e.mul(quotient, y)?;
    let rest = e.sub(x, product)?;
    let signs = [limited(e, rest, -1, 1)?, limited(e, y, -1, 1)?];
    let sign = e.mul(signs[0], signs[1])?;
    let under = limited(e, sign, -1, 0)?;
    Ok((quotient, rest, under))
}

/// `x` in a narrower integer type, carried by `i32`.
///
/// # Errors
///
/// A value that anything but gathers, as their indices, and further casts read.
pub(crate) fn narrowed(op: OpId, e: &mut Emit<'_>, x: ValueId, to: &str) -> Imported {
    let bounds = match to {
        "int8" => Some((i32::from(i8::MIN), i32::from(i8::MAX))),
        "uint8" => Some((0, i32::from(u8::MAX))),
        "int16" => Some((i32::from(i16::MIN), i32::from(i16::MAX))),
        "uint16" => Some((0, i32::from(u16::MAX))),
        _ => None,
    };
    let indexes = only_indexes(e.g(), e.g().result(op));
    match bounds.filter(|_| indexes) {
        Some((least, most)) => limited(e, x, least, most),
        None => Err(Refused::new(format!("core has no cast from i32 to {to}"))),
    }
}

/// Whether a value is read as the indices of gathers, and by casts to integers, alone.
pub(crate) fn only_indexes(g: &Graph, value: ValueId) -> bool {
    !g.uses(value).is_empty()
        && g.uses(value).all(|(user, operand)| {
            let Some(row) = ops::row(g.def(user)) else {
                return false;
            };
            let is = |own: &'static MilOp| std::ptr::eq(own, row);
            if is(&unary::CAST) {
                let call = Call::bind(row, user, g);
                return call.is_ok_and(|call| call.word("dtype").contains("int"));
            }
            is(&index::GATHER) && argument_at(g, user, operand) == Some("indices")
        })
}
