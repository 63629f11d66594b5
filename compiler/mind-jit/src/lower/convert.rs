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
    assert!(from.is_float(), "{from} is no float");
    let is_double = compute_lane(from) == Lane::F64;
    match to {
        _ if from == to => value,
        DType::F64 => b.convert(ConvertOp::Float, Lane::F64, value),
        DType::F32 if is_double => b.convert(ConvertOp::Float, Lane::F32, value),
        DType::F16 | DType::BF16 if is_double => {
            let odd = round_to_odd(b, value);
            round(b, to, odd)
        }
        DType::F32 | DType::F16 | DType::BF16 => round(b, to, value),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => not_a_float(to),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => not_a_float(to),
    }
}

fn not_a_float(dtype: DType) -> ! {
    panic!("{dtype} is no float")
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
