//! Comparisons and choices, with truth values as the numbers 0 and 1: in `f32`, or in `i32` where integers were
//! compared.

use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::{binary, unary};

use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;
use crate::whole;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&binary::GREATER, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            return whole::above(e, x, y);
        }
        let distance = distance(op, e)?;
        step(e, distance)
    }),
    (&binary::LESS, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            return whole::above(e, y, x);
        }
        let distance = distance(op, e)?;
        let other = e.mul_n(distance, -1.0)?;
        step(e, other)
    }),
    (&binary::LESS_EQUAL, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            let greater = whole::above(e, x, y)?;
            return not(e, greater);
        }
        let distance = distance(op, e)?;
        let greater = step(e, distance)?;
        let fits = not(e, greater)?;
        ordered(op, e, fits)
    }),
    (&binary::GREATER_EQUAL, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            let less = whole::above(e, y, x)?;
            return not(e, less);
        }
        let distance = distance(op, e)?;
        let other = e.mul_n(distance, -1.0)?;
        let less = step(e, other)?;
        let fits = not(e, less)?;
        ordered(op, e, fits)
    }),
    (&binary::EQUAL, equal),
    (&binary::NOT_EQUAL, |op, e| {
        let equal = equal(op, e)?;
        not(e, equal)
    }),
    (&binary::LOGICAL_AND, |op, e| {
        let [x, y] = flags(op, e)?;
        let both = e.mul(x, y)?;
        Ok(e.flag(both))
    }),
    (&binary::LOGICAL_OR, |op, e| {
        let [x, y] = flags(op, e)?;
        let either = e.max(x, y)?;
        Ok(e.flag(either))
    }),
    (&binary::LOGICAL_XOR, |op, e| {
        let [x, y] = flags(op, e)?;
        let difference = e.sub(x, y)?;
        let one = e.mul(difference, difference)?;
        Ok(e.flag(one))
    }),
    (&unary::LOGICAL_NOT, |op, e| {
        let x = e.argument(op, "x")?;
        not(e, x)
    }),
    (&binary::SELECT, select),
    (&unary::CAST, cast),
];

/// 1 where `x`, an `f32` or `f64`, is above 0, else 0, also for NaN. Twice 2^126, or 2^1022, lifts the least of
/// them above 1.
pub(crate) fn step(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let format = e.dtype(x).float_format().expect("an f32 or f64");
    let huge = 2f64.powi(format.bias() - 1);
    let above = e.relu(x)?;
    let above = e.mul_n(above, huge)?;
    let above = e.mul_n(above, huge)?;
    e.min_n(above, 1.0)
}

/// `1 - x`: the other truth value.
pub(crate) fn not(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let one = match e.dtype(x) {
        DType::I32 => e.constant(&Tensor::scalar(1i32)),
        dtype => e.number(dtype, 1.0),
    };
    let other = e.sub(one, x)?;
    Ok(e.flag(other))
}

/// `x - y` in `f32`, which is 0 where they are equal alone: gradual underflow keeps every difference.
fn distance(op: OpId, e: &mut Emit<'_>) -> Imported {
    let [x, y] = flags(op, e)?;
    let (x, y) = (e.float(x)?, e.float(y)?);
    let (x, y) = (e.convert(x, DType::F32)?, e.convert(y, DType::F32)?);
    e.sub(x, y)
}

fn equal(op: OpId, e: &mut Emit<'_>) -> Imported {
    if let Some([x, y]) = whole::pair(op, e)? {
        let distance = e.sub(x, y)?;
        let differs = whole::nonzero(e, distance)?;
        return not(e, differs);
    }
    let distance = distance(op, e)?;
    let size = e.abs(distance)?;
    let differs = step(e, size)?;
    let same = not(e, differs)?;
    ordered(op, e, same)
}

/// `flag` where neither argument is NaN, else 0.
fn ordered(op: OpId, e: &mut Emit<'_>, flag: ValueId) -> Imported {
    let mut flag = flag;
    for name in ["x", "y"] {
        if may_be_nan(op, e, name)? {
            let own = e.argument(op, name)?;
            let own = e.convert(own, DType::F32)?;
            let number = is_number(e, own)?;
            flag = e.mul(flag, number)?;
        }
    }
    Ok(flag)
}

/// Whether argument `name` is anything but a constant without NaN.
fn may_be_nan(op: OpId, e: &Emit<'_>, name: &str) -> Result<bool, Box<Refused>> {
    let known = e.call(op)?.tensor(name).known();
    Ok(known.is_none_or(|tensor| {
        mind_mil::call::floats(&tensor)
            .iter()
            .any(|own| own.is_nan())
    }))
}

/// 0 where `x`, an `f32`, is NaN, else 1: `relu` makes 0 of NaN, and of `|x|` and `1 - |x|` one is above 0.
fn is_number(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let size = e.abs(x)?;
    let some = step(e, size)?;
    let rest = not(e, size)?;
    let less = step(e, rest)?;
    e.max(some, less)
}

/// Arguments `x` and `y`, truth values in one dtype.
fn flags(op: OpId, e: &mut Emit<'_>) -> Result<[ValueId; 2], Box<Refused>> {
    let [x, y] = [e.argument(op, "x")?, e.argument(op, "y")?];
    if e.dtype(x) == e.dtype(y) {
        return Ok([x, y]);
    }
    Ok([
        whole::as_float(e, x, DType::F32)?,
        whole::as_float(e, y, DType::F32)?,
    ])
}

/// `a` capped by infinity where the condition holds and by minus infinity elsewhere, `b` the other way round,
/// and the larger of both: a value is neither multiplied nor added to, so that infinities pass. A side that may be
/// NaN is cleared of it first, and what was chosen of it put back; its zeros lose their sign.
fn select(op: OpId, e: &mut Emit<'_>) -> Imported {
    let [cond, a, b] = [
        e.argument(op, "cond")?,
        e.argument(op, "a")?,
        e.argument(op, "b")?,
    ];
    if e.dtype(a) == DType::I32 {
        return whole::select(e, cond, a, b);
    }
    let dtype = e.dtype(e.float(a)?);
    let cond = whole::as_float(e, cond, DType::F32)?;
    let b = whole::as_float(e, b, dtype)?;
    let twice = e.mul_n(cond, 2.0)?;
    let side = e.sub_n(twice, 1.0)?;
    let bound = e.mul_n(side, f64::INFINITY)?;
    let bound = e.convert(bound, dtype)?;
    let other = e.mul_n(bound, -1.0)?;
    let unchosen = not(e, cond)?;
    let mut lost = None;
    let mut sides = Vec::with_capacity(2);
    for (name, side, chosen, bound) in [("a", a, cond, bound), ("b", b, unchosen, other)] {
        let mut side = side;
        if may_be_nan(op, e, name)? {
            let wide = e.convert(side, DType::F32)?;
            let number = is_number(e, wide)?;
            let missing = not(e, number)?;
            let missing = e.mul(missing, chosen)?;
            lost = Some(match lost {
                Some(lost) => e.add(lost, missing)?,
                None => missing,
            });
            let minus = e.mul_n(side, -1.0)?;
            let (above, below) = (e.relu(side)?, e.relu(minus)?);
            side = e.sub(above, below)?;
        }
        sides.push(e.min(side, bound)?);
    }
    let result = e.max(sides[0], sides[1])?;
    let Some(lost) = lost else {
        return Ok(result);
    };
    let rest = not(e, lost)?;
    let one = e.number(DType::F32, 1.0);
    let inverse = e.div(one, rest)?;
    let mark = e.mul_n(inverse, 0.0)?;
    let mark = e.convert(mark, dtype)?;
    e.sub(result, mark)
}

/// Between floats, between integers, from truth values, and to them.
fn cast(op: OpId, e: &mut Emit<'_>) -> Imported {
    let to = e.call(op)?.word("dtype").to_owned();
    let x = e.argument(op, "x")?;
    let from = e.dtype(x);
    match to.as_str() {
        "fp16" if from.is_float() => e.convert(x, DType::F16),
        "fp32" if from.is_float() => e.convert(x, DType::F32),
        "fp16" if e.is_flag(x) => whole::as_float(e, x, DType::F16),
        "fp32" if e.is_flag(x) => whole::as_float(e, x, DType::F32),
        "bool" if from.is_float() => {
            let wide = e.convert(x, DType::F32)?;
            let size = e.abs(wide)?;
            step(e, size)
        }
        "bool" if from == DType::I32 => whole::nonzero(e, x),
        "int32" if from == DType::I32 => Ok(x),
        narrow if from == DType::I32 => whole::narrowed(op, e, x, narrow),
        _ => Err(Refused::new(format!(
            "core has no cast from {from} to {to}"
        ))),
    }
}
