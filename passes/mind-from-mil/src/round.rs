//! Rounding to integers, quotients and products.

use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::{binary, reduction, unary};

use crate::comparison::step;
use crate::emit::{Emit, Import, Imported};
use crate::reduce::operand;
use crate::refuse::Refused;
use crate::slice::part;
use crate::whole;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&unary::SIGN, |op, e| in_singles(op, e, sign)),
    (&unary::ROUND, |op, e| in_singles(op, e, rounded)),
    (&unary::FLOOR, |op, e| in_singles(op, e, floor)),
    (&unary::CEIL, |op, e| {
        in_singles(op, e, |e, x| {
            let near = rounded(e, x)?;
            let under = e.sub(x, near)?;
            let under = step(e, under)?;
            e.add(near, under)
        })
    }),
    (&binary::FLOOR_DIV, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            return whole::floor_div(e, x, y);
        }
        in_doubles(op, e, |e, x, y| {
            let quotient = e.div(x, y)?;
            floor(e, quotient)
        })
    }),
    (&binary::MOD, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            return whole::modulo(e, x, y);
        }
        in_doubles(op, e, |e, x, y| {
            let quotient = e.div(x, y)?;
            let whole = floor(e, quotient)?;
            let past = e.mul(whole, y)?;
            e.sub(x, past)
        })
    }),
    (&reduction::REDUCE_PROD, product),
];

/// A function of argument `x` in `f32`, rounded once.
fn in_singles(
    op: OpId,
    e: &mut Emit<'_>,
    function: fn(&mut Emit<'_>, ValueId) -> Imported,
) -> Imported {
    let x = e.argument(op, "x")?;
    e.rounding_once(x, function)
}

/// A function of two floats in `f64`, rounded to `f32` and once more to the dtype.
fn in_doubles(
    op: OpId,
    e: &mut Emit<'_>,
    function: fn(&mut Emit<'_>, ValueId, ValueId) -> Imported,
) -> Imported {
    let (x, y) = (e.argument(op, "x")?, e.argument(op, "y")?);
    let dtype = e.dtype(e.float(x)?);
    let (x, y) = (e.convert(x, DType::F64)?, e.convert(y, DType::F64)?);
    let result = function(e, x, y)?;
    let single = e.convert(result, DType::F32)?;
    e.convert(single, dtype)
}

fn sign(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let negative = e.mul_n(x, -1.0)?;
    let (above, below) = (step(e, x)?, step(e, negative)?);
    e.sub(above, below)
}

/// To the nearest integer, ties to even: from `2^p` on, of `p` bits after the leading one, a float has no
/// fractions, so that adding that and taking it off again rounds what is below.
fn rounded(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let format = e.dtype(x).float_format().expect("an f32 or f64");
    let whole = 2f64.powi(format.mantissa as i32);
    let size = e.abs(x)?;
    let low = e.min_n(size, whole)?;
    let high = e.sub(size, low)?;
    let low = e.add_n(low, whole)?;
    let low = e.sub_n(low, whole)?;
    let size = e.add(low, high)?;
    let sign = sign(e, x)?;
    e.mul(sign, size)
}

fn floor(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let near = rounded(e, x)?;
    let over = e.sub(near, x)?;
    let over = step(e, over)?;
    e.sub(near, over)
}

/// The most factors of a product.
const MOST_FACTORS: i64 = 64;

/// The product along the axes, one factor after the other in `f64`.
fn product(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (x, over) = operand(op, e)?;
    let dtype = e.dtype(e.float(x)?);
    let shape = e.shape(e.g().result(op))?;
    let extents = e.shape(x)?;
    let factors = over
        .axes
        .iter()
        .map(|&axis| extents[axis as usize])
        .product::<i64>();
    if factors > MOST_FACTORS {
        return Err(Refused::new(format!(
            "{factors} factors are more than {MOST_FACTORS}"
        )));
    }
    let mut parts = vec![e.convert(x, DType::F64)?];
    for &axis in &over.axes {
        let axis = axis as usize;
        let mut thin = Vec::new();
        for whole in parts {
            for at in 0..extents[axis] {
                thin.push(part(e, whole, axis, at, at + 1)?);
            }
        }
        parts = thin;
    }
    let mut parts = parts.into_iter();
    let first = parts
        .next()
        .ok_or_else(|| Refused::new("a product of nothing"))?;
    let whole = parts.try_fold(first, |whole, own| e.mul(whole, own))?;
    let single = e.convert(whole, DType::F32)?;
    let result = e.convert(single, dtype)?;
    e.reshape(result, &shape)
}
