//! Exports matrix products.

use mind_convert::Refusal;
use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::contract::{Dot, MatMul};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::pairs::Side;
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};

use super::super::draft::Val;
use super::super::emit::{Emit, One};
use super::super::operator as op;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        BlockMatMul::DEF,
        Form::One(|_, _| {
            Err(Refusal::no_counterpart(
                "its weights are in blocks of quantised numbers, expected a matrix of numbers; dequantise them first",
            ))
        }),
    ),
    (
        Dot::DEF,
        Form::One(|op, e| {
            let inputs = e.operands(op);
            e.apply(
                op::MAT_MUL,
                e.dtype(Dot::from_id(op).lhs(e.g)),
                &inputs,
                Vec::new(),
            )
        }),
    ),
    (
        MatMul::DEF,
        Form::One(|op, e| {
            let inputs = e.operands(op);
            e.apply(
                op::MAT_MUL,
                e.dtype(MatMul::from_id(op).lhs(e.g)),
                &inputs,
                Vec::new(),
            )
        }),
    ),
    (
        DotGeneral::DEF,
        Form::One(|op, e| dot_general(DotGeneral::from_id(op), e)),
    ),
];

/// Returns an operand as a stack of matrices: batch dimensions, then the dimensions of `second` merged, then those of
/// `third` merged.
fn matrices(e: &mut Emit<'_>, value: ValueId, [batch, second, third]: [&[usize]; 3]) -> One {
    let order: Vec<i64> = [batch, second, third]
        .concat()
        .into_iter()
        .map(|axis| axis as i64)
        .collect();
    let own = e.value(value);
    let own = e.transpose(own, &order)?;
    if second.len() == 1 && third.len() == 1 {
        return Ok(own);
    }
    let dims = e.dims(value);
    let merged = |axes: &[usize]| {
        let mut extents = axes.iter().map(|&axis| dims[axis].fixed());
        extents.try_fold(1i64, |all, own| all.checked_mul(own?))
    };
    let (rows, columns) = (merged(second), merged(third));
    let known: Option<Vec<i64>> = batch.iter().map(|&axis| dims[axis].fixed()).collect();
    let shape: Vec<Dim> = match (known, rows, columns) {
        (Some(known), Some(rows), Some(columns)) => known
            .into_iter()
            .chain([rows, columns])
            .map(Dim::Fixed)
            .collect(),
        _ => {
            let open = || {
                Refusal::form(
                    "several extents of its operand that become one",
                    "unknown",
                    "numbers; `--dim NAME=EXTENT` gives them",
                )
            };
            let has_zero = dims.contains(&Dim::Fixed(0));
            let missing = usize::from(rows.is_none()) + usize::from(columns.is_none());
            if has_zero || missing > 1 {
                return Err(open());
            }
            // 0 copies the extent of a batch dimension.
            let batches = batch.iter().map(|_| 0);
            let list: Vec<i64> = batches
                .chain([rows.unwrap_or(-1), columns.unwrap_or(-1)])
                .collect();
            let shape = e.ints(&list);
            return e.node(op::RESHAPE, &[own, shape], Vec::new());
        }
    };
    e.reshaped(own, &[], &shape)
}

fn dot_general(op: DotGeneral, e: &mut Emit<'_>) -> One {
    let (lhs, rhs, result) = (op.lhs(e.g), op.rhs(e.g), op.result(e.g));
    let pairs = op.pairs(e.g, [e.rank(lhs), e.rank(rhs)]);
    let pairs = pairs?;
    let (from, to) = (e.dtype(lhs), e.dtype(result));
    let Side {
        batch,
        free,
        contracted,
    } = &pairs.lhs;
    let left = matrices(e, lhs, [batch, free, contracted])?;
    let Side {
        batch,
        free,
        contracted,
    } = &pairs.rhs;
    let right = matrices(e, rhs, [batch, contracted, free])?;
    let own = product(e, [left, right], from, to)?;
    if pairs.lhs.free.len() == 1 && pairs.rhs.free.len() == 1 {
        return Ok(own);
    }
    let stacked: Vec<Dim> = pairs
        .lhs
        .batch
        .iter()
        .map(|&axis| e.dims(lhs)[axis])
        .collect();
    e.reshaped(own, &stacked, e.dims(result))
}

fn product(e: &mut Emit<'_>, operands: [Val; 2], from: DType, to: DType) -> One {
    if to == DType::I32 && op::MAT_MUL_INTEGER.takes(from, e.opset) {
        return e.node(op::MAT_MUL_INTEGER, &operands, Vec::new());
    }
    let operands = e.cast_all(&operands, from, to)?;
    e.apply(op::MAT_MUL, to, &operands, Vec::new())
}
