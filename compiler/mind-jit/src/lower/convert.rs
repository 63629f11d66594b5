//! Floats in other float dtypes.

use mind_ir::types::DType;

use mind_vir::ir::{BinaryOp, Builder, ConvertOp, Lane, Predicate, ShiftOp, UnaryOp, Value};

use super::scalar::{compute_lane, round};

/// Appends the conversion of floats to another float dtype, rounded once to nearest even.
///
/// Values are in the lanes that their dtypes are worked on in.
///
/// # Panics
///
/// If one of the dtypes is no float.
pub fn convert(b: &mut Builder, from: DType, to: DType, value: Value) -> Value {
    assert!(
        from.is_float() && to.is_float(),
        "floats, found {from} and {to}"
    );
    match (compute_lane(from), compute_lane(to)) {
        (Lane::F64, Lane::F32) if to == DType::F32 => b.convert(ConvertOp::Float, Lane::F32, value),
        (Lane::F64, Lane::F32) => {
            let odd = round_to_odd(b, value);
            round(b, to, odd)
        }
        (Lane::F32, Lane::F64) => b.convert(ConvertOp::Float, Lane::F64, value),
        _ if from == to => value,
        _ => round(b, to, value),
    }
}

/// `F64` cut to `F32`, with the last bit set where something was cut off, so that it can be rounded again.
///
/// The nearest `F32` is even or odd; where it is even and not exact, the odd neighbour on the side of the
/// value is one step away in magnitude.
fn round_to_odd(b: &mut Builder, value: Value) -> Value {
    let nearest = b.convert(ConvertOp::Float, Lane::F32, value);
    let back = b.convert(ConvertOp::Float, Lane::F64, nearest);
    let (exact, back) = (b.unary(UnaryOp::Abs, value), b.unary(UnaryOp::Abs, back));
    let above = b.compare(Predicate::Lt, exact, back);
    let below = b.compare(Predicate::Lt, back, exact);
    let [zero, one, minus_one] = [0, 1, u64::MAX].map(|step| b.constant(Lane::I64, step));
    let up = b.select(below, one, zero);
    let step = b.select(above, minus_one, up);
    let step = b.convert(ConvertOp::Truncate, Lane::I32, step);
    let bits = b.convert(ConvertOp::Bits, Lane::I32, nearest);
    let last = b.shift(ShiftOp::Shl, bits, 31);
    let is_odd = b.shift(ShiftOp::Sra, last, 31);
    let all = b.constant(Lane::I32, u64::MAX);
    let is_even = b.binary(BinaryOp::Xor, is_odd, all);
    let step = b.binary(BinaryOp::And, step, is_even);
    let bits = b.binary(BinaryOp::Add, bits, step);
    b.convert(ConvertOp::Bits, Lane::F32, bits)
}
