//! Imports matrix products and attention.

use mind_convert::EmitCore;
use mind_core::ops::compare::Select;
use mind_core::ops::contract::MatMul;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::normalize::Softmax;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::Element;
use mind_mil::MilOp;
use mind_mil::call::element_of;
use mind_mil::ops::linear;

use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&linear::MATMUL, matmul),
    (&linear::LINEAR, |op, e| {
        let x = e.argument(op, "x")?;
        let weight = e.argument(op, "weight")?;
        let weight = alike(e, weight, x)?;
        let weight = e.flipped(weight)?;
        let outer = e.shape(x)?;
        let x = match outer.len() {
            1 => e.reshape_to(x, &[1, outer[0]])?,
            _ => x,
        };
        let mut result = product(e, x, weight)?;
        if let Some(bias) = e.optional(op, "bias")? {
            let bias = alike(e, bias, x)?;
            result = e.add(result, bias)?;
        }
        let shape = e.shape(e.g().result(op))?;
        e.reshape_to(result, &shape)
    }),
    (&linear::EINSUM, |op, e| {
        let values = e.arguments(op, "values")?;
        let (batch, sums, order): (&[i64], [i64; 2], &[i64]) = if e.rank(values[0]) == 4 {
            (&[0, 2], [3, 1], &[0, 2, 1, 3])
        } else {
            (&[1], [2, 0], &[1, 0, 2])
        };
        let result = DotGeneral::with()
            .lhs_batch(batch)
            .rhs_batch(batch)
            .lhs_contract(&sums[..1])
            .rhs_contract(&sums[1..])
            .build(&mut e.b, values[0], values[1])?;
        e.transpose(result, order)
    }),
    (&linear::SCALED_DOT_PRODUCT_ATTENTION, attention),
];

fn product(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> One {
    Ok(MatMul::build(&mut e.b, x, y)?)
}

/// Returns `value` in the dtype of `x`, because weights may be given in another float dtype.
pub(crate) fn alike(e: &mut Emit<'_>, value: ValueId, x: ValueId) -> One {
    if e.dtype(x).is_float() && e.dtype(value).is_float() {
        e.convert(value, e.dtype(x))
    } else {
        Ok(value)
    }
}

/// Imports a product; vectors become matrices of one row or column.
fn matmul(op: OpId, e: &mut Emit<'_>) -> One {
    let (x, y) = (e.argument(op, "x")?, e.argument(op, "y")?);
    let call = e.call(op)?;
    let (flip_x, flip_y) = (call.flag("transpose_x"), call.flag("transpose_y"));
    let result = e.g().result(op);
    let (x, y) = if e.g().ty(result).dtype == e.dtype(x) {
        (x, alike(e, y, x)?)
    } else {
        (alike(e, x, y)?, y)
    };
    let vectors = (e.rank(x) == 1, e.rank(y) == 1);
    let left = match (vectors.0, flip_x) {
        (true, _) => {
            let extent = e.shape(x)?[0];
            e.reshape_to(x, &[1, extent])?
        }
        (false, true) => e.flipped(x)?,
        (false, false) => x,
    };
    let right = match (vectors.1, flip_y) {
        (true, _) => {
            let extent = e.shape(y)?[0];
            e.reshape_to(y, &[extent, 1])?
        }
        (false, true) => e.flipped(y)?,
        (false, false) => y,
    };
    let matrix = product(e, left, right)?;
    match vectors {
        (false, false) => Ok(matrix),
        _ => {
            let shape = e.shape(result)?;
            e.reshape_to(matrix, &shape)
        }
    }
}

/// The replacement for minus infinity where a boolean mask excludes a score.
const MASKED: f64 = -3e4;

/// Imports attention: the softmax of scaled and masked scores, times the values.
fn attention(op: OpId, e: &mut Emit<'_>) -> One {
    let [q, k, v] = [
        e.argument(op, "query")?,
        e.argument(op, "key")?,
        e.argument(op, "value")?,
    ];
    let mask = e.call(op)?.value("attn_mask");
    let keeps = mask.is_some_and(|mask| element_of(e.g(), mask) == Element::Bool);
    let mask = e.optional(op, "attn_mask")?;
    let depth = *e.shape(q)?.last().unwrap_or(&1) as f64;
    let flipped = e.flipped(k)?;
    let scores = product(e, q, flipped)?;
    let mut scores = e.mul_n(scores, 1.0 / depth.sqrt())?;
    if let Some(mask) = mask {
        let added = if keeps {
            let [kept, left_out] = [0.0, MASKED].map(|number| e.number(DType::F32, number));
            Select::build(&mut e.b, mask, kept, left_out)?
        } else {
            mask
        };
        let added = alike(e, added, q)?;
        scores = e.add(scores, added)?;
    }
    let weights = Softmax::build(&mut e.b, scores)?;
    product(e, weights, v)
}
