//! Quotients and products.

use mind_core::ops::rounding::Floor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::{binary, reduction};

use crate::emit::{Emit, Import, Imported};
use crate::reduce::operand;
use crate::refuse::Refused;
use crate::slice::part;
use crate::whole;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&binary::FLOOR_DIV, |op, e| {
        if let Some([x, y]) = whole::pair(op, e)? {
            return whole::floor_div(e, x, y);
        }
        in_doubles(op, e, |e, x, y| {
            let quotient = e.div(x, y)?;
            Ok(Floor::build(&mut e.b, quotient)?)
        })
    }),
    (&reduction::REDUCE_PROD, product),
];

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
