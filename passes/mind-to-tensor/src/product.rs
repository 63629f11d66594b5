//! Products by lists of dimensions.
//!
//! Integers of 8 and 16 bits that are summed up in `i32` are multiplied two at a time: one element of `i32` holds two
//! neighbours along the contracted dimensions. Sums modulo 2^32 do not depend on their order.

use mind_core::ops::dot_general::DotGeneral;
use mind_core::pairs::{Pairs, Side};
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::bitcast::Bitcast;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::join::Concat;
use mind_tensor::ops::transpose::Transpose;

use crate::emit::{Lower, Lowered, converted, reshape};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[(DotGeneral::DEF, lower_dot_general)];

/// The least extents for which two products at a time pay: rows, columns and terms.
const PAIRED: [i64; 3] = [4, 16, 16];

fn lower_dot_general(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = DotGeneral::from_id(op);
    let operands = [view.lhs(b.graph), view.rhs(b.graph)];
    let pairs = view.pairs(b.graph, operands.map(|value| b.graph.ty(value).rank()))?;
    let dtype = b.graph.ty(b.graph.result(op)).dtype;
    if dtype == DType::I32 && operands.iter().all(|&value| is_half(b, value)) {
        let sizes = [(operands[0], &pairs.lhs), (operands[1], &pairs.rhs)]
            .map(|(value, side)| Extents::of(b, value, side));
        if let [Some(lhs), Some(rhs)] = sizes
            && [lhs.free(), rhs.free(), lhs.terms]
                .iter()
                .zip(PAIRED)
                .all(|(&own, least)| own >= least)
        {
            return in_halves(b, &pairs, operands, [&lhs, &rhs]);
        }
    }
    plain(b, &pairs, operands, dtype)
}

/// Whether 16 bits with a sign hold the numbers of `value`.
fn is_half(b: &Builder<'_>, value: ValueId) -> bool {
    matches!(b.graph.ty(value).dtype, DType::I8 | DType::U8 | DType::I16)
}

/// The product of the operands in the dtype of the sums.
fn plain(b: &mut Builder<'_>, pairs: &Pairs, [lhs, rhs]: [ValueId; 2], dtype: DType) -> Lowered {
    let (lhs, rhs) = (converted(b, lhs, dtype)?, converted(b, rhs, dtype)?);
    let listed = |axes: &[usize]| -> Vec<i64> { axes.iter().map(|&axis| axis as i64).collect() };
    let [left, right] = [&pairs.lhs, &pairs.rhs].map(|side| listed(&side.contracted));
    Contract::with(&left, &right)
        .lhs_batch(&listed(&pairs.lhs.batch))
        .rhs_batch(&listed(&pairs.rhs.batch))
        .build(b, lhs, rhs)
}

/// The extents of one operand, all known.
struct Extents {
    batch: Vec<i64>,
    free: Vec<i64>,
    /// The number of contracted elements.
    terms: i64,
}

impl Extents {
    fn of(b: &Builder<'_>, value: ValueId, side: &Side) -> Option<Extents> {
        let shape = b.graph.ty(value).static_shape()?;
        let extents = |axes: &[usize]| -> Vec<i64> { axes.iter().map(|&at| shape[at]).collect() };
        Some(Extents {
            batch: extents(&side.batch),
            free: extents(&side.free),
            terms: extents(&side.contracted).into_iter().product(),
        })
    }

    fn free(&self) -> i64 {
        self.free.iter().product()
    }
}

fn fixed(extents: &[i64]) -> Vec<Dim> {
    extents.iter().copied().map(Dim::Fixed).collect()
}

/// `[batch.., free.., terms]` by `[batch.., terms, free..]`, two terms to an element.
fn in_halves(
    b: &mut Builder<'_>,
    pairs: &Pairs,
    [lhs, rhs]: [ValueId; 2],
    [left, right]: [&Extents; 2],
) -> Lowered {
    let order = [&pairs.lhs.batch[..], &pairs.lhs.free, &pairs.lhs.contracted].concat();
    let lead = [&left.batch[..], &left.free].concat();
    let lhs = halves(b, lhs, &order, &lead, left.terms)?;
    let order = [&pairs.rhs.batch[..], &pairs.rhs.free, &pairs.rhs.contracted].concat();
    let lead = [&right.batch[..], &right.free].concat();
    let rhs = halves(b, rhs, &order, &lead, right.terms)?;
    let batch: Vec<i64> = (0..left.batch.len() as i64).collect();
    let last = |b: &Builder<'_>, value: ValueId| [b.graph.ty(value).rank() as i64 - 1];
    let (l, r) = (last(b, lhs), last(b, rhs));
    Contract::with(&l, &r)
        .lhs_batch(&batch)
        .rhs_batch(&batch)
        .halves(true)
        .build(b, lhs, rhs)
}

/// `value` as `[lead.., pairs of terms]`, its dimensions in `order`; a term of 0 completes the last pair.
fn halves(
    b: &mut Builder<'_>,
    value: ValueId,
    order: &[usize],
    lead: &[i64],
    terms: i64,
) -> Lowered {
    let order: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
    let value = converted(b, value, DType::I16)?;
    let value = if order.iter().copied().eq(0..order.len() as i64) {
        value
    } else {
        Transpose::with(&order).build(b, value)?
    };
    let mut value = reshape(b, value, &fixed(&[lead, &[terms]].concat()), &[])?;
    if terms % 2 == 1 {
        let zero = Tensor::new(Vec::new(), Buffer::zeros(DType::I16, 1));
        let zero = mind_core::constant(b, &zero);
        let shape = fixed(&[lead, &[1]].concat());
        let zeros = Broadcast::with(&[], &shape).build(b, &[zero])?;
        value = Concat::with(lead.len() as i64).build(b, &[value, zeros])?;
    }
    let shape = fixed(&[lead, &[(terms + 1) / 2, 2]].concat());
    let value = reshape(b, value, &shape, &[])?;
    Bitcast::with(DType::I32).build(b, value)
}
