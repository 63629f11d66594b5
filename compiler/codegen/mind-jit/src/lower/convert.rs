//! Conversions between dtypes.

use mind_ir::types::{DType, DTypeClass};

use mind_vir::ir::{
    BinaryOp, Builder, ConvertOp, Lane, MaskOp, Predicate, ShiftOp, UnaryOp, Value,
};

use super::scalar::{compute_lane, round};
use super::truth;

/// Returns the widest lanes that a conversion computes in.
pub fn convert_lane(from: DType, to: DType) -> Lane {
    use DTypeClass::{Bool, Float, Signed, Unsigned};
    let (own, other) = (compute_lane(from), compute_lane(to));
    let between = match (from.class(), to.class()) {
        (Float, Signed | Unsigned)
            if other.bits() < 32 || (own, other) == (Lane::F32, Lane::I32) =>
        {
            own
        }
        (Float, Signed | Unsigned) => Lane::F64,
        (Signed | Unsigned, Float) if own.bits() >= 32 && (own, to) != (Lane::I32, DType::F32) => {
            Lane::F64
        }
        (Float | Bool, Float | Bool)
        | (Signed | Unsigned | Bool, Signed | Unsigned | Bool)
        | (Signed | Unsigned, Float) => own,
    };
    let lanes = [own, other, between].into_iter();
    lanes.max_by_key(|lane| lane.bits()).unwrap_or(own)
}

/// Appends the conversion to another dtype, with the semantics of `core.cast`.
///
/// Values are in the computation lanes of their dtypes.
pub fn convert(b: &mut Builder, from: DType, to: DType, value: Value) -> Value {
    use DTypeClass::{Bool, Float, Signed, Unsigned};
    if from == to {
        return value;
    }
    match (from.class(), to.class()) {
        (Float, Float) => float_to_float(b, from, to, value),
        (Bool, Signed | Unsigned) => truth::numbers(b, value, compute_lane(to)),
        (Bool, Float) => {
            let numbers = truth::numbers(b, value, Lane::I32);
            b.convert(ConvertOp::IntToFloat, compute_lane(to), numbers)
        }
        (Float | Signed | Unsigned, Bool) => {
            let lane = compute_lane(from);
            let zero = b.constant(lane, 0);
            let is_zero = b.compare(Predicate::Eq, value, zero);
            truth::not(b, is_zero)
        }
        (Signed | Unsigned, Signed | Unsigned) => resize(b, from, compute_lane(to), value),
        (Signed | Unsigned, Float) => int_to_float(b, from, to, value),
        (Float, Signed | Unsigned) => float_to_int(b, from, to, value),
        (Bool, Bool) => value,
    }
}

/// Extends an integer by its sign, or truncates it.
fn resize(b: &mut Builder, from: DType, to: Lane, value: Value) -> Value {
    let own = compute_lane(from);
    let op = match own.bits().cmp(&to.bits()) {
        std::cmp::Ordering::Equal => return value,
        std::cmp::Ordering::Greater => ConvertOp::Truncate,
        std::cmp::Ordering::Less if from.class() == DTypeClass::Signed => ConvertOp::SignExtend,
        std::cmp::Ordering::Less => ConvertOp::ZeroExtend,
    };
    b.convert(op, to, value)
}

/// A conversion rounded once to nearest even.
fn float_to_float(b: &mut Builder, from: DType, to: DType, value: Value) -> Value {
    match (compute_lane(from), compute_lane(to)) {
        (Lane::F64, Lane::F64) => value,
        (_, Lane::F64) => b.convert(ConvertOp::Float, Lane::F64, value),
        (Lane::F64, _) if to == DType::F32 => b.convert(ConvertOp::Float, Lane::F32, value),
        (Lane::F64, _) => {
            let odd = round_to_odd(b, value);
            round(b, to, odd)
        }
        _ => round(b, to, value),
    }
}

/// `F64` to `F32`, rounded to odd: the last bit is set if the result is inexact, so that rounding again to fewer bits
/// is correct.
///
/// The nearest `F32` is even or odd; if it is even and inexact, the odd neighbour towards the value is one ulp away.
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
    odd_neighbour(b, nearest, step)
}

/// Returns `nearest`, or the float `step` ulps further if its last bit is not set.
fn odd_neighbour(b: &mut Builder, nearest: Value, step: Value) -> Value {
    let (float, int) = (b.lane(nearest), b.lane(step));
    let bits = b.convert(ConvertOp::Bits, int, nearest);
    let last = b.shift(ShiftOp::Shl, bits, int.bits() - 1);
    let is_odd = b.shift(ShiftOp::Sra, last, int.bits() - 1);
    let all = b.constant(int, int.mask());
    let is_even = b.binary(BinaryOp::Xor, is_odd, all);
    let step = b.binary(BinaryOp::And, step, is_even);
    let bits = b.binary(BinaryOp::Add, bits, step);
    b.convert(ConvertOp::Bits, float, bits)
}

/// A conversion rounded once to nearest even.
fn int_to_float(b: &mut Builder, from: DType, to: DType, value: Value) -> Value {
    let own = compute_lane(from);
    if own.bits() < 32 {
        let wide = resize(b, from, Lane::I32, value);
        let exact = b.convert(ConvertOp::IntToFloat, compute_lane(to), wide);
        return if to == DType::F64 {
            exact
        } else {
            round(b, to, exact)
        };
    }
    if (from, to) == (DType::I32, DType::F32) {
        return b.convert(ConvertOp::IntToFloat, Lane::F32, value);
    }
    if (from, to) == (DType::U32, DType::F32) {
        return unsigned_to_f32(b, value);
    }
    let is_signed = from.class() == DTypeClass::Signed;
    if own == Lane::I32 {
        let exact = if is_signed {
            b.convert(ConvertOp::IntToFloat, Lane::F64, value)
        } else {
            let wide = b.convert(ConvertOp::ZeroExtend, Lane::I64, value);
            low_to_f64(b, wide)
        };
        return float_to_float(b, DType::F64, to, exact);
    }
    // Both halves are exact; their sum is rounded once.
    let upper = high_to_f64(b, value, is_signed);
    let mask = b.constant(Lane::I64, 0xffff_ffff);
    let lower = b.binary(BinaryOp::And, value, mask);
    let lower = low_to_f64(b, lower);
    let sum = b.binary(BinaryOp::Add, upper, lower);
    if to == DType::F64 {
        return sum;
    }
    // Values below 2^53 in magnitude are exact.
    let magnitude = b.unary(UnaryOp::Abs, sum);
    let limit = b.f64(2f64.powi(53));
    let is_large = b.compare(Predicate::Le, limit, magnitude);
    let odd = b.if_any(is_large, &[sum], |b| vec![odd_sum(b, sum, upper, lower)]);
    float_to_float(b, DType::F64, to, odd[0])
}

/// The sum of an upper and a smaller lower half, rounded to odd.
fn odd_sum(b: &mut Builder, sum: Value, upper: Value, lower: Value) -> Value {
    let kept = b.binary(BinaryOp::Sub, sum, upper);
    let lost = b.binary(BinaryOp::Sub, lower, kept);
    let zero = b.f64(0.0);
    let product = b.binary(BinaryOp::Mul, lost, sum);
    let below = b.compare(Predicate::Lt, zero, product);
    let above = b.compare(Predicate::Lt, product, zero);
    let [none, one, minus_one] = [0, 1, u64::MAX].map(|step| b.constant(Lane::I64, step));
    let up = b.select(below, one, none);
    let step = b.select(above, minus_one, up);
    odd_neighbour(b, sum, step)
}

/// Unsigned `I32` to `F32`: both halves are exact, and their sum is rounded once.
fn unsigned_to_f32(b: &mut Builder, value: Value) -> Value {
    let upper = b.shift(ShiftOp::Shr, value, 16);
    let mask = b.constant(Lane::I32, 0xffff);
    let lower = b.binary(BinaryOp::And, value, mask);
    let [upper, lower] =
        [upper, lower].map(|half| b.convert(ConvertOp::IntToFloat, Lane::F32, half));
    let weight = b.f32(65_536.0);
    b.fma(upper, weight, lower)
}

/// Numbers below 2^32 in an `I64` to `F64`, exactly: they become the low bits of 2^52, which is then subtracted.
fn low_to_f64(b: &mut Builder, low: Value) -> Value {
    above(b, BinaryOp::Or, low, 2f64.powi(52))
}

/// The upper half of an `I64` times 2^32 as `F64`, exactly: it becomes the low bits of a power of two, which is then
/// subtracted. A signed number is biased first, by flipping its sign bit.
fn high_to_f64(b: &mut Builder, value: Value, is_signed: bool) -> Value {
    let upper = b.shift(ShiftOp::Shr, value, 32);
    let half_range = if is_signed { 2f64.powi(63) } else { 0.0 };
    above(b, BinaryOp::Xor, upper, 2f64.powi(84) + half_range)
}

/// Returns the difference between `base` and `base` with `bits` combined into its low bits by `op`.
fn above(b: &mut Builder, op: BinaryOp, bits: Value, base: f64) -> Value {
    let base_bits = b.constant(Lane::I64, base.to_bits());
    let sum = b.binary(op, bits, base_bits);
    let sum = b.convert(ConvertOp::Bits, Lane::F64, sum);
    let base = b.f64(base);
    b.binary(BinaryOp::Sub, sum, base)
}

/// An `F64` times a power of two.
fn scaled(b: &mut Builder, value: Value, exponent: i32) -> Value {
    let power = b.f64(2f64.powi(exponent));
    b.binary(BinaryOp::Mul, value, power)
}

/// Float to integer, truncated; 0 for NaN, and saturated to the range of `to`.
fn float_to_int(b: &mut Builder, from: DType, to: DType, value: Value) -> Value {
    let to_lane = compute_lane(to);
    if to_lane.bits() < 32 {
        // NaN becomes `i32::MIN`, whose low bits are zeros.
        let x = clamped(b, to, value);
        let whole = b.convert(ConvertOp::FloatToInt, Lane::I32, x);
        return b.convert(ConvertOp::Truncate, to_lane, whole);
    }
    if (compute_lane(from), to_lane) == (Lane::F32, Lane::I32) {
        return if to.class() == DTypeClass::Signed {
            f32_to_i32(b, value)
        } else {
            f32_to_u32(b, value)
        };
    }
    let x = float_to_float(b, from, DType::F64, value);
    if to_lane == Lane::I64 {
        return f64_to_wide(b, to, x);
    }
    let is_nan = b.compare(Predicate::Unordered, x, x);
    let zero = b.f64(0.0);
    let x = b.select(is_nan, zero, x);
    let x = clamped(b, to, x);
    if to.class() == DTypeClass::Signed {
        return b.convert(ConvertOp::FloatToInt, Lane::I32, x);
    }
    let whole = truncated(b, x);
    b.convert(ConvertOp::Truncate, Lane::I32, whole)
}

/// Clamps `x` to the range of `to`, whose ends its lanes represent exactly; NaN is unchanged.
fn clamped(b: &mut Builder, to: DType, x: Value) -> Value {
    let (least, largest) = bounds(to);
    let end = |b: &mut Builder, end: f64| match b.lane(x) {
        Lane::F64 => b.f64(end),
        Lane::F32 | Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => b.f32(end as f32),
    };
    let (least, largest) = (end(b, least), end(b, largest));
    let x = b.binary(BinaryOp::Max, least, x);
    b.binary(BinaryOp::Min, largest, x)
}

/// Float to `i32`, truncated; values below the range and NaN become `i32::MIN`, which is correct for the former.
fn f32_to_i32(b: &mut Builder, x: Value) -> Value {
    let whole = b.convert(ConvertOp::FloatToInt, Lane::I32, x);
    let limit = b.f32(2f32.powi(31));
    let is_beyond = b.compare(Predicate::Le, limit, x);
    let most = b.constant(Lane::I32, i32::MAX as u64);
    let whole = b.select(is_beyond, most, whole);
    let is_nan = b.compare(Predicate::Unordered, x, x);
    let zero = b.constant(Lane::I32, 0);
    b.select(is_nan, zero, whole)
}

/// Float to `u32`: converted as a signed number, after subtracting 2^31 from large values, whose sign bit is flipped
/// afterwards.
fn f32_to_u32(b: &mut Builder, x: Value) -> Value {
    let zero = b.f32(0.0);
    // For NaN, `max` returns its second operand.
    let x = b.binary(BinaryOp::Max, x, zero);
    let half_range = b.f32(2f32.powi(31));
    let is_upper = b.compare(Predicate::Le, half_range, x);
    let lower = b.binary(BinaryOp::Sub, x, half_range);
    let rest = b.select(is_upper, lower, x);
    let whole = b.convert(ConvertOp::FloatToInt, Lane::I32, rest);
    let (sign, none) = (b.constant(Lane::I32, 1 << 31), b.constant(Lane::I32, 0));
    let sign = b.select(is_upper, sign, none);
    let whole = b.binary(BinaryOp::Xor, whole, sign);
    let limit = b.f32(2f32.powi(32));
    let is_beyond = b.compare(Predicate::Le, limit, x);
    let most = b.constant(Lane::I32, u64::from(u32::MAX));
    b.select(is_beyond, most, whole)
}

/// `F64` to 64-bit integers, with a fast path because most values fit 51 bits.
fn f64_to_wide(b: &mut Builder, to: DType, x: Value) -> Value {
    let limit = b.f64(2f64.powi(51));
    let magnitude = b.unary(UnaryOp::Abs, x);
    let is_large = b.compare(Predicate::Le, limit, magnitude);
    let is_nan = b.compare(Predicate::Unordered, x, x);
    let is_other = b.mask_op(MaskOp::Or, is_large, is_nan);
    let is_other = match to.class() {
        DTypeClass::Signed => is_other,
        DTypeClass::Unsigned | DTypeClass::Float | DTypeClass::Bool => {
            let zero = b.f64(0.0);
            let is_negative = b.compare(Predicate::Lt, x, zero);
            b.mask_op(MaskOp::Or, is_other, is_negative)
        }
    };
    let usual = truncated(b, x);
    b.if_any(is_other, &[usual], |b| {
        let zero = b.f64(0.0);
        let number = b.select(is_nan, zero, x);
        vec![number_to_wide(b, to, number)]
    })[0]
}

/// An `F64` that is not NaN to 64-bit integers.
fn number_to_wide(b: &mut Builder, to: DType, x: Value) -> Value {
    let (least, largest) = bounds(to);
    let low = b.f64(least);
    let x = b.binary(BinaryOp::Max, x, low);
    // The upper 32 bits and the remainder: both are exact and have the same sign.
    let upper = scaled(b, x, -32);
    let upper = b.unary(UnaryOp::Trunc, upper);
    let weight = b.f64(-(2f64.powi(32)));
    let lower = b.fma(upper, weight, x);
    let lower = truncated(b, lower);
    // The low bits hold no bit of the rounding constant.
    let upper = rounding_sum(b, upper);
    let upper = b.shift(ShiftOp::Shl, upper, 32);
    let both = b.binary(BinaryOp::Add, upper, lower);
    let limit = b.f64(largest);
    let is_beyond = b.compare(Predicate::Le, limit, x);
    let most = match to.class() {
        DTypeClass::Signed => b.constant(Lane::I64, i64::MAX as u64),
        DTypeClass::Unsigned | DTypeClass::Float | DTypeClass::Bool => {
            b.constant(Lane::I64, u64::MAX)
        }
    };
    b.select(is_beyond, most, both)
}

/// Returns the least and the largest number of an integer dtype; for 64 bits, 2^63 or 2^64 as the upper end.
fn bounds(to: DType) -> (f64, f64) {
    let bits = compute_lane(to).bits() as i32;
    match to.class() {
        DTypeClass::Signed if bits == 64 => (-(2f64.powi(63)), 2f64.powi(63)),
        DTypeClass::Signed => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1) - 1.0),
        DTypeClass::Unsigned if bits == 64 => (0.0, 2f64.powi(64)),
        DTypeClass::Unsigned | DTypeClass::Float | DTypeClass::Bool => (0.0, 2f64.powi(bits) - 1.0),
    }
}

/// Adding it to a number below 2^51 in magnitude rounds that to an integer, which is then in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// An `F64` below 2^51 in magnitude, truncated to an `I64`.
fn truncated(b: &mut Builder, x: Value) -> Value {
    let whole = b.unary(UnaryOp::Trunc, x);
    integer(b, whole)
}

/// An integral `F64` below 2^51 in magnitude to `I64`.
fn integer(b: &mut Builder, whole: Value) -> Value {
    let sum = rounding_sum(b, whole);
    let none = b.constant(Lane::I64, ROUND.to_bits());
    b.binary(BinaryOp::Sub, sum, none)
}

/// An integral `F64` below 2^51 in magnitude to an `I64` whose low 51 bits are those of the integer.
fn rounding_sum(b: &mut Builder, whole: Value) -> Value {
    let round = b.f64(ROUND);
    let sum = b.binary(BinaryOp::Add, whole, round);
    b.convert(ConvertOp::Bits, Lane::I64, sum)
}
