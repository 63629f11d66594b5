//! Products of 8 and 16 bit integers with sums in `i32`, as dot products of four or two integers.
//!
//! One `i32` element packs neighbours along the contracted dimensions. The order of summation has no effect, because
//! sums are taken modulo 2^32.
//!
//! Instructions multiply unsigned by signed bytes. If both sides have the same signedness, the sign bit of the left
//! side is flipped, which adds or subtracts 128, and 128 times the sum of each column corrects the product. For example
//! for signed bytes, `sum(a * b) = sum((a + 128) * b) - 128 * sum(b)`.

use mind_core::ops::elementwise::{Add, Mul};
use mind_core::ops::input::Input;
use mind_core::ops::logic::Xor;
use mind_core::pairs::{Pairs, Side};
use mind_core::parts::Parts;
use mind_ir::builder::Builder;
use mind_ir::graph::ValueDef;
use mind_ir::opdef::{Op, Trait};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, DTypeClass, Dim};
use mind_ir::{Graph, OpId, ValueId};
use mind_tensor::ops::bitcast::Bitcast;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::group::Group;
use mind_tensor::ops::index::Slice;
use mind_tensor::ops::join::Concat;
use mind_tensor::ops::reduce::Reduction;
use mind_tensor::ops::reshape::Reshape;
use mind_tensor::ops::transpose::Transpose;

use crate::broadcast::binary;
use crate::emit::{Lowered, converted, map, reduce, reshape};
use crate::normalize::grouped;

/// The least rows, columns and terms for which packed dot products pay.
const LEAST: [i64; 3] = [4, 16, 16];

/// The least rows if the right side is a weight or constant, which is packed before the first run.
const LEAST_ROWS_SETTLED: i64 = 1;

/// The change of a byte's value when its sign bit is flipped.
const BIAS: i32 = 128;

/// Returns whether packed dot products apply to these operands with sums of `dtype`, and pay for these numbers of rows,
/// columns and terms.
pub(crate) fn pays(g: &Graph, operands: [ValueId; 2], dtype: DType, extents: [i64; 3]) -> bool {
    let is_part = |value| matches!(g.ty(value).dtype, DType::I8 | DType::U8 | DType::I16);
    let mut least = LEAST;
    if is_settled(g, operands[1], MOST_OPS) {
        least[0] = LEAST_ROWS_SETTLED;
    }
    let mut extents = extents.into_iter().zip(least);
    dtype == DType::I32
        && operands.into_iter().all(is_part)
        && extents.all(|(own, least)| own >= least)
}

/// The longest chain of ops that is searched for a weight.
const MOST_OPS: usize = 4;

/// Returns whether a value is a weight or a constant, or a rearrangement of one, so that its packed form is also
/// computed only once.
fn is_settled(g: &Graph, value: ValueId, ops: usize) -> bool {
    if ops == 0 {
        return false;
    }
    match g.value_def(value) {
        ValueDef::Result(op, _) => {
            let moves = g.is::<Transpose>(op) || g.is::<Reshape>(op) || g.is::<Slice>(op);
            g.def(op).has(Trait::Constant)
                || g.view::<Input>(op).is_some_and(|input| input.param(g))
                || moves && is_settled(g, g.operands(op)[0], ops - 1)
        }
        ValueDef::Argument(block, at) => {
            let group = g.block_owner(block).filter(|&op| g.is::<Group>(op));
            group.is_some_and(|op| is_settled(g, g.operands(op)[at as usize], ops - 1))
        }
    }
}

/// The packing of the operands of a product.
pub(crate) struct Packing {
    parts: Parts,
    /// The dtype to which both sides are converted before packing, if any.
    common: Option<DType>,
    /// The factor of the column sums that are added to the product, if the sign bits of the left side are flipped.
    correction: Option<i32>,
    lhs: Extents,
    rhs: Extents,
}

impl Packing {
    /// Returns the packing for the product of `operands` with sums of `dtype`, with four bytes to an element if
    /// `dots_bytes`. `None` if packing does not apply or does not pay.
    pub(crate) fn of(
        b: &Builder<'_>,
        pairs: &Pairs,
        operands: [ValueId; 2],
        dtype: DType,
        dots_bytes: bool,
    ) -> Option<Packing> {
        let lhs = Extents::of(b, operands[0], &pairs.lhs)?;
        let rhs = Extents::of(b, operands[1], &pairs.rhs)?;
        let extents = [lhs.free(), rhs.free(), lhs.terms];
        if !pays(b.graph, operands, dtype, extents) {
            return None;
        }
        let dtypes = operands.map(|value| b.graph.ty(value).dtype);
        let are_bytes = dtypes.iter().all(|dtype| dtype.size() == 1);
        let are_signed = dtypes.map(|dtype| dtype.class() == DTypeClass::Signed);
        let (parts, correction) = match are_signed {
            _ if !(dots_bytes && are_bytes) => (Parts::Halves, None),
            [false, true] => (Parts::UnsignedBySigned, None),
            [true, false] => (Parts::SignedByUnsigned, None),
            [true, true] => (Parts::UnsignedBySigned, Some(-BIAS)),
            [false, false] => (Parts::SignedByUnsigned, Some(BIAS)),
        };
        Some(Packing {
            parts,
            common: (parts == Parts::Halves).then_some(DType::I16),
            correction,
            lhs,
            rhs,
        })
    }

    /// Emits the product of `[batch.., free.., terms]` by `[batch.., free.., terms]`, with several terms in an element.
    pub(crate) fn product(
        &self,
        op: OpId,
        b: &mut Builder<'_>,
        pairs: &Pairs,
        operands: [ValueId; 2],
    ) -> Lowered {
        let left = self.terms_last(b, operands[0], &pairs.lhs, &self.lhs)?;
        let right = self.terms_last(b, operands[1], &pairs.rhs, &self.rhs)?;
        let left = match self.correction {
            Some(_) => flipped(b, left)?,
            None => left,
        };
        let (lhs, rhs) = (self.packed(b, left)?, self.packed(b, right)?);
        let Some(unit) = self.correction else {
            return self.contract(b, lhs, rhs);
        };
        let correction = self.column_sums(op, b, operands[1], (&pairs.rhs, unit))?;
        grouped(op, b, "dot", &[lhs, rhs, correction], |b, arguments| {
            let product = self.contract(b, arguments[0], arguments[1])?;
            binary(b, Add::DEF, product, arguments[2])
        })
    }

    fn contract(&self, b: &mut Builder<'_>, lhs: ValueId, rhs: ValueId) -> Lowered {
        let batch: Vec<i64> = (0..self.lhs.batch.len() as i64).collect();
        let last = |value: ValueId| [b.graph.ty(value).rank() as i64 - 1];
        Contract::with(&last(lhs), &last(rhs))
            .lhs_batch(&batch)
            .rhs_batch(&batch)
            .parts(self.parts)
            .build(b, lhs, rhs)
    }

    /// Emits `value` as `[batch.., free.., terms]`, before packing.
    fn terms_last(
        &self,
        b: &mut Builder<'_>,
        value: ValueId,
        side: &Side,
        extents: &Extents,
    ) -> Lowered {
        let value = match self.common {
            Some(dtype) => converted(b, value, dtype)?,
            None => value,
        };
        let order = [&side.batch[..], &side.free, &side.contracted].concat();
        let order: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
        let value = permuted(b, value, &order)?;
        let shape = [&extents.batch[..], &extents.free, &[extents.terms]].concat();
        reshape(b, value, &fixed(&shape), &[])
    }

    /// Emits `value` with the terms along its last dimension packed to `i32` elements; zeros pad the last one.
    fn packed(&self, b: &mut Builder<'_>, value: ValueId) -> Lowered {
        let dtype = b.graph.ty(value).dtype;
        let count = (DType::I32.size() / dtype.size()) as i64;
        let missing = (count - self.lhs.terms % count) % count;
        let shape = b.graph.ty(value).static_shape().unwrap_or_default();
        let lead = &shape[..shape.len() - 1];
        let mut value = value;
        if missing > 0 {
            let zero = Tensor::new(Vec::new(), Buffer::zeros(dtype, 1));
            let zero = mind_core::constant(b, &zero);
            let shape = fixed(&[lead, &[missing]].concat());
            let zeros = Broadcast::with(&[], &shape).build(b, &[zero])?;
            value = Concat::with(lead.len() as i64).build(b, &[value, zeros])?;
        }
        let elements = (self.lhs.terms + missing) / count;
        let value = reshape(b, value, &fixed(&[lead, &[elements, count]].concat()), &[])?;
        Bitcast::with(DType::I32).build(b, value)
    }

    /// Emits `unit` times the sum of each column of `rhs`, `[batch.., 1.., free..]`, which broadcasts along the rows.
    fn column_sums(
        &self,
        op: OpId,
        b: &mut Builder<'_>,
        rhs: ValueId,
        (side, unit): (&Side, i32),
    ) -> Lowered {
        let contracted: Vec<i64> = side.contracted.iter().map(|&axis| axis as i64).collect();
        let sums = grouped(op, b, "sums", &[rhs], |b, arguments| {
            let numbers = converted(b, arguments[0], DType::I32)?;
            let sums = reduce(b, Reduction::Sum, numbers, &contracted, false)?;
            map(b, &[sums], |b, scalars| {
                let unit = mind_core::constant(b, &Tensor::of(Vec::new(), vec![unit]));
                Mul::build(b, scalars[0], unit)
            })
        })?;
        let kept = || side.batch.iter().chain(&side.free);
        let order = kept().map(|&axis| kept().filter(|&&other| other < axis).count() as i64);
        let sums = permuted(b, sums, &order.collect::<Vec<i64>>())?;
        let rows = vec![1; self.lhs.free.len()];
        let shape = [&self.rhs.batch[..], &rows, &self.rhs.free].concat();
        reshape(b, sums, &fixed(&shape), &[])
    }
}

/// Emits `value` with its dimensions in `order`.
fn permuted(b: &mut Builder<'_>, value: ValueId, order: &[i64]) -> Lowered {
    if order.is_sorted() {
        return Ok(value);
    }
    Transpose::with(order).build(b, value)
}

/// Emits `value` with the sign bits of its bytes flipped.
fn flipped(b: &mut Builder<'_>, value: ValueId) -> Lowered {
    let sign = Buffer::from_bytes(b.graph.ty(value).dtype, &[1 << 7]);
    let sign = Tensor::new(Vec::new(), sign);
    map(b, &[value], |b, scalars| {
        let sign = mind_core::constant(b, &sign);
        Xor::build(b, scalars[0], sign)
    })
}

/// The extents of one operand, which are known.
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
