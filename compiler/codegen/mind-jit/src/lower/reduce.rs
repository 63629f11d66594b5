//! Reductions in the order of docs/numerics.md: 64 partial results, which are then combined by halves.

use mind_ir::types::DType;

use mind_ir::scalar::{Reduction, ScalarFn};

use mind_vir::ir::{BinaryOp, Builder, IndexOp, Lane, LoopKind, Op, Value};

use super::each::At;
use super::scalar::{apply, compute_lane};

/// Partial results of a reduction.
pub(super) const PARTIALS: u32 = 64;

/// Returns the identity of a reduction, in the computation lanes of `dtype`.
pub fn identity(b: &mut Builder, reduction: Reduction, dtype: DType) -> Value {
    let lane = compute_lane(dtype);
    let bits = match (reduction, lane) {
        (Reduction::Sum | Reduction::Mean, _) => 0,
        (Reduction::Max, Lane::F32) => f32::NEG_INFINITY.to_bits().into(),
        (Reduction::Max, Lane::F64) => f64::NEG_INFINITY.to_bits(),
        (Reduction::Max, _) if is_signed(dtype) => lane.sign(),
        (Reduction::Max, _) => 0,
        (Reduction::Min, Lane::F32) => f32::INFINITY.to_bits().into(),
        (Reduction::Min, Lane::F64) => f64::INFINITY.to_bits(),
        (Reduction::Min, _) if is_signed(dtype) => lane.sign() - 1,
        (Reduction::Min, _) => lane.mask(),
        (Reduction::Prod, Lane::F32) => 1f32.to_bits().into(),
        (Reduction::Prod, Lane::F64) => 1f64.to_bits(),
        (Reduction::Prod, _) => 1,
    };
    b.constant(lane, bits)
}

pub(super) fn is_signed(dtype: DType) -> bool {
    dtype.class() == mind_ir::types::DTypeClass::Signed
}

/// Combines two partial results, or a partial result and an element; for a mean, before the division. The result is not
/// rounded to a 16-bit dtype.
pub fn combine(b: &mut Builder, reduction: Reduction, dtype: DType, x: Value, y: Value) -> Value {
    match reduction {
        Reduction::Sum | Reduction::Mean => b.binary(BinaryOp::Add, x, y),
        Reduction::Max => apply(b, ScalarFn::Maximum, dtype, &[x, y], None),
        Reduction::Min => apply(b, ScalarFn::Minimum, dtype, &[x, y], None),
        Reduction::Prod => b.binary(BinaryOp::Mul, x, y),
    }
}

/// Appends the reduction of the elements `0..extent`; the result, for a mean the sum, is in the first lane.
///
/// `element` is called once for each copy of the code, and returns elements in the computation lanes of the dtype.
/// Lanes beyond its count are ignored.
///
/// # Panics
///
/// Panics if vectors have more than 64 lanes.
pub fn reduce(
    b: &mut Builder,
    reduction: Reduction,
    dtype: DType,
    extent: Value,
    mut element: impl FnMut(&mut Builder, At) -> Value,
) -> Value {
    let lanes = b.lanes();
    assert!(lanes <= PARTIALS, "vectors of at most {PARTIALS} lanes");
    let start = b.index(0);
    let neutral = identity(b, reduction, dtype);
    let inits = vec![neutral; (PARTIALS / lanes) as usize];
    let bounds = (start, extent);
    let step = i64::from(PARTIALS);
    let (rest, partials) = b.repeat(LoopKind::Whole, bounds, step, &inits, |b, round| {
        let partials = (0..).step_by(lanes as usize).zip(round.carried);
        let combined = partials.map(|(ahead, &partial)| {
            let at = At {
                index: round.index,
                ahead,
                count: None,
            };
            let x = element(b, at);
            combine(b, reduction, dtype, partial, x)
        });
        combined.collect()
    });
    let bounds = (rest, extent);
    let (_, partials) = b.repeat(LoopKind::Rest, bounds, step, &partials, |b, round| {
        let left = b.index_op(IndexOp::Sub, extent, round.index);
        let (none, all) = (b.index(0), b.index(lanes.into()));
        let partials = (0..).step_by(lanes as usize).zip(round.carried);
        let combined = partials.map(|(ahead, &partial)| {
            let before = b.index(ahead.into());
            let count = b.index_op(IndexOp::Sub, left, before);
            let count = b.index_op(IndexOp::Max, count, none);
            let count = b.index_op(IndexOp::Min, count, all);
            let at = At {
                index: round.index,
                ahead,
                count: Some(count),
            };
            let x = element(b, at);
            let mask = b.below(compute_lane(dtype), count);
            let x = b.select(mask, x, neutral);
            combine(b, reduction, dtype, partial, x)
        });
        combined.collect()
    });
    fold(b, reduction, dtype, partials)
}

/// Combines the 64 partial results by halves; the result is in the first lane.
pub(super) fn fold(
    b: &mut Builder,
    reduction: Reduction,
    dtype: DType,
    mut partials: Vec<Value>,
) -> Value {
    while partials.len() > 1 {
        let upper = partials.split_off(partials.len() / 2);
        let pairs = partials.iter().zip(upper);
        partials = pairs
            .map(|(&x, y)| combine(b, reduction, dtype, x, y))
            .collect();
    }
    let mut result = partials[0];
    let mut half = b.lanes() / 2;
    while half > 0 {
        let upper = b.op(Op::LanesDown(result, half));
        result = combine(b, reduction, dtype, result, upper);
        half /= 2;
    }
    result
}
