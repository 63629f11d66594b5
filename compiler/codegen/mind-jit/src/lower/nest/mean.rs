//! The final step of a row reduction.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use crate::lower::reduce::is_signed;
use crate::lower::scalar::round;
use crate::lower::{apply, compute_lane};
use mind_vir::ir::{BinaryOp, Builder, Lane, Predicate, Value};

use mind_ir::scalar::Reduction;

/// Returns the result of a reduction of `count` elements from their combined value, rounded to the dtype.
pub(super) fn finish(
    b: &mut Builder,
    kind: Reduction,
    dtype: DType,
    total: Value,
    count: usize,
) -> Value {
    match kind {
        Reduction::Max | Reduction::Min => total,
        Reduction::Sum | Reduction::Prod => round(b, dtype, total),
        Reduction::Mean if dtype.is_float() => {
            let count = match compute_lane(dtype) {
                Lane::F64 => b.f64(count as f64),
                _ => b.f32(count as f32),
            };
            let quotient = b.binary(BinaryOp::Div, total, count);
            round(b, dtype, quotient)
        }
        Reduction::Mean => int_mean(b, dtype, total, count as u64),
    }
}

/// The quotient truncated toward zero, even if the dtype cannot represent `count`.
///
/// In that case the magnitude of the sum is less than `count`, unless the sum is the smallest number and `count` its
/// magnitude.
fn int_mean(b: &mut Builder, dtype: DType, total: Value, count: u64) -> Value {
    let lane = compute_lane(dtype);
    let largest = if is_signed(dtype) {
        lane.sign() - 1
    } else {
        lane.mask()
    };
    if count <= largest {
        let count = b.constant(lane, count);
        return apply(b, ScalarFn::Div, dtype, &[total, count], None);
    }
    let zero = b.constant(lane, 0);
    if !is_signed(dtype) || count != lane.sign() {
        return zero;
    }
    let (smallest, minus_one) = (b.constant(lane, count), b.constant(lane, u64::MAX));
    let is_smallest = b.compare(Predicate::Eq, total, smallest);
    b.select(is_smallest, minus_one, zero)
}
