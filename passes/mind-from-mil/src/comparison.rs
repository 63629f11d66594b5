//! Comparisons and choices, with truth values as the numbers 0 and 1.

use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::{binary, unary};

use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&binary::GREATER, |op, e| {
        let distance = distance(op, e)?;
        step(e, distance)
    }),
    (&binary::LESS, |op, e| {
        let distance = distance(op, e)?;
        let other = e.mul_n(distance, -1.0)?;
        step(e, other)
    }),
    (&binary::LESS_EQUAL, |op, e| {
        let distance = distance(op, e)?;
        let greater = step(e, distance)?;
        not(e, greater)
    }),
    (&binary::GREATER_EQUAL, |op, e| {
        let distance = distance(op, e)?;
        let other = e.mul_n(distance, -1.0)?;
        let less = step(e, other)?;
        not(e, less)
    }),
    (&binary::EQUAL, |op, e| {
        let differs = differs(op, e)?;
        not(e, differs)
    }),
    (&binary::NOT_EQUAL, differs),
    (&binary::LOGICAL_AND, |op, e| {
        let [x, y] = flags(op, e)?;
        e.mul(x, y)
    }),
    (&binary::LOGICAL_OR, |op, e| {
        let [x, y] = flags(op, e)?;
        e.max(x, y)
    }),
    (&binary::LOGICAL_XOR, |op, e| {
        let [x, y] = flags(op, e)?;
        let difference = e.sub(x, y)?;
        e.abs(difference)
    }),
    (&unary::LOGICAL_NOT, |op, e| {
        let x = e.argument(op, "x")?;
        not(e, x)
    }),
    (&binary::SELECT, select),
    (&unary::CAST, cast),
];

/// 1 where `x`, an `f32`, is above 0, else 0, also for NaN. Twice 2^126 lifts the least of them above 1.
pub(crate) fn step(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let huge = f64::from(2f32.powi(126));
    let above = e.relu(x)?;
    let above = e.mul_n(above, huge)?;
    let above = e.mul_n(above, huge)?;
    e.min_n(above, 1.0)
}

fn not(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let one = e.number(DType::F32, 1.0);
    e.sub(one, x)
}

/// `x - y` in `f32`, which is 0 where they are equal alone: gradual underflow keeps every difference.
fn distance(op: OpId, e: &mut Emit<'_>) -> Imported {
    let [x, y] = flags(op, e)?;
    let (x, y) = (e.float(x)?, e.float(y)?);
    let (x, y) = (e.convert(x, DType::F32)?, e.convert(y, DType::F32)?);
    e.sub(x, y)
}

fn differs(op: OpId, e: &mut Emit<'_>) -> Imported {
    let distance = distance(op, e)?;
    let size = e.abs(distance)?;
    step(e, size)
}

fn flags(op: OpId, e: &mut Emit<'_>) -> Result<[ValueId; 2], Box<Refused>> {
    Ok([e.argument(op, "x")?, e.argument(op, "y")?])
}

/// `a` capped by infinity where the condition holds and by minus infinity elsewhere, `b` the other way round,
/// and the larger of both: a value is neither multiplied nor added to, so that infinities pass.
fn select(op: OpId, e: &mut Emit<'_>) -> Imported {
    let [cond, a, b] = [
        e.argument(op, "cond")?,
        e.argument(op, "a")?,
        e.argument(op, "b")?,
    ];
    let dtype = e.dtype(e.float(a)?);
    let twice = e.mul_n(cond, 2.0)?;
    let side = e.sub_n(twice, 1.0)?;
    let bound = e.mul_n(side, f64::INFINITY)?;
    let bound = e.convert(bound, dtype)?;
    let other = e.mul_n(bound, -1.0)?;
    let (a, b) = (e.min(a, bound)?, e.min(b, other)?);
    e.max(a, b)
}

/// Between floats, from truth values, and to them.
fn cast(op: OpId, e: &mut Emit<'_>) -> Imported {
    let to = e.call(op)?.word("dtype").to_owned();
    let x = e.argument(op, "x")?;
    let from = e.dtype(x);
    match to.as_str() {
        "fp16" if from.is_float() => e.convert(x, DType::F16),
        "fp32" if from.is_float() => e.convert(x, DType::F32),
        "bool" if from.is_float() => {
            let wide = e.convert(x, DType::F32)?;
            let size = e.abs(wide)?;
            step(e, size)
        }
        _ => Err(Refused::new(format!(
            "core has no cast from {from} to {to}"
        ))),
    }
}
