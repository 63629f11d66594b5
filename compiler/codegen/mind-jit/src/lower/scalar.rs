//! Scalar functions on vectors of a dtype.
//!
//! Vectors of `f16` or `bf16` are computed in `F32`: they are widened when loaded, rounded after each function, and
//! narrowed exactly when stored.

use half::{bf16, f16};
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, DTypeClass, NarrowFloat};

use mind_vir::ir::{
    Addr, BinaryOp, Builder, ConvertOp, Lane, MaskOp, Op, Predicate, ShiftOp, UnaryOp, Value,
};

use super::math::VectorSteps;
use super::truth;

/// Returns the lanes of `dtype` in memory.
pub const fn storage_lane(dtype: DType) -> Lane {
    match dtype {
        DType::F32 => Lane::F32,
        DType::F64 => Lane::F64,
        DType::Bool | DType::I8 | DType::U8 => Lane::I8,
        DType::F16 | DType::BF16 | DType::I16 | DType::U16 => Lane::I16,
        DType::I32 | DType::U32 => Lane::I32,
        DType::I64 | DType::U64 => Lane::I64,
    }
}

/// Returns the lanes in which functions on `dtype` are computed.
pub const fn compute_lane(dtype: DType) -> Lane {
    storage_lane(dtype.carrier())
}

/// Loads elements of `dtype`, widened.
pub fn load(b: &mut Builder, dtype: DType, addr: Addr, count: Option<Value>) -> Value {
    let elements = b.load(storage_lane(dtype), addr, count);
    widen(b, dtype, elements)
}

/// Stores elements of `dtype`, narrowed.
pub fn store(b: &mut Builder, dtype: DType, value: Value, addr: Addr, count: Option<Value>) {
    let elements = narrow(b, dtype, value);
    b.store(elements, addr, count);
}

/// Converts storage lanes to computation lanes, exactly.
pub fn widen(b: &mut Builder, dtype: DType, elements: Value) -> Value {
    match dtype.narrow_float() {
        Some(NarrowFloat::F16) => b.convert(ConvertOp::HalfToF32, Lane::F32, elements),
        Some(NarrowFloat::BF16) => {
            let wide = b.convert(ConvertOp::ZeroExtend, Lane::I32, elements);
            let bits = b.shift(ShiftOp::Shl, wide, 16);
            b.convert(ConvertOp::Bits, Lane::F32, bits)
        }
        None => elements,
    }
}

/// Converts computation lanes to storage lanes, rounded to nearest even.
pub fn narrow(b: &mut Builder, dtype: DType, value: Value) -> Value {
    if dtype == DType::Bool {
        return truth::numbers(b, value, Lane::I8);
    }
    match dtype.narrow_float() {
        Some(NarrowFloat::F16) => b.convert(ConvertOp::F32ToHalf, Lane::I16, value),
        Some(NarrowFloat::BF16) => {
            let rounded = round_to_bf16(b, value);
            let bits = b.shift(ShiftOp::Shr, rounded, 16);
            b.convert(ConvertOp::Truncate, Lane::I16, bits)
        }
        None => value,
    }
}

/// Returns the bits of the nearest `bf16` in the upper half of an `I32`; the lower half is undefined.
///
/// Adding half an ulp, minus one unless the last kept bit is set, carries exactly if the value rounds up. NaN is
/// replaced, because it could carry into infinity.
fn round_to_bf16(b: &mut Builder, value: Value) -> Value {
    let bits = b.convert(ConvertOp::Bits, Lane::I32, value);
    let one = b.constant(Lane::I32, 1);
    let nearly_half = b.constant(Lane::I32, 0x7fff);
    let last = b.shift(ShiftOp::Shr, bits, 16);
    let last = b.binary(BinaryOp::And, last, one);
    let up = b.binary(BinaryOp::Add, last, nearly_half);
    let rounded = b.binary(BinaryOp::Add, bits, up);
    let is_nan = b.compare(Predicate::Unordered, value, value);
    let nan = b.constant(Lane::I32, f32::NAN.to_bits().into());
    b.select(is_nan, nan, rounded)
}

/// Rounds `value` to `dtype`, in `F32`.
pub fn round(b: &mut Builder, dtype: DType, value: Value) -> Value {
    match dtype.narrow_float() {
        Some(NarrowFloat::F16) => {
            let half = narrow(b, dtype, value);
            widen(b, dtype, half)
        }
        Some(NarrowFloat::BF16) => {
            let rounded = round_to_bf16(b, value);
            let kept = b.constant(Lane::I32, 0xffff_0000);
            let bits = b.binary(BinaryOp::And, rounded, kept);
            b.convert(ConvertOp::Bits, Lane::F32, bits)
        }
        None => value,
    }
}

/// The constant of `dtype` with these bits, in computation lanes.
pub fn constant(b: &mut Builder, dtype: DType, bits: u64) -> Value {
    let bits = match dtype.narrow_float() {
        Some(NarrowFloat::F16) => f16::from_bits(bits as u16).to_f32().to_bits().into(),
        Some(NarrowFloat::BF16) => bf16::from_bits(bits as u16).to_f32().to_bits().into(),
        None => bits,
    };
    b.constant(compute_lane(dtype), bits)
}

/// Appends `function` on vectors of `dtype`, in computation lanes.
///
/// `count` is the number of active lanes, if not all are active. It matters only for integer division, which must not
/// report a status for inactive lanes.
///
/// # Panics
///
/// Panics if the function is not defined on the dtype, or takes another number of operands.
pub fn apply(
    b: &mut Builder,
    function: ScalarFn,
    dtype: DType,
    operands: &[Value],
    count: Option<Value>,
) -> Value {
    assert!(function.domain().admits(dtype), "{function:?} on {dtype}");
    assert_eq!(operands.len(), function.arity(), "operands of {function:?}");
    let masks;
    let operands = match dtype {
        DType::Bool => {
            masks = truth::masks(b, operands);
            &masks
        }
        _ => operands,
    };
    let result = unrounded(b, function, dtype.class(), operands, count);
    if dtype.is_float() && function.rounds() {
        round(b, dtype, result)
    } else {
        result
    }
}

/// The instructions of each function on each class of dtypes.
fn unrounded(
    b: &mut Builder,
    function: ScalarFn,
    class: DTypeClass,
    operands: &[Value],
    count: Option<Value>,
) -> Value {
    use DTypeClass::{Bool, Float, Signed, Unsigned};
    let (x, y) = (operands[0], operands[operands.len() - 1]);
    match function {
        ScalarFn::Add => b.binary(BinaryOp::Add, x, y),
        ScalarFn::Sub => b.binary(BinaryOp::Sub, x, y),
        ScalarFn::Mul => b.binary(BinaryOp::Mul, x, y),
        ScalarFn::Div => match class {
            Float => b.binary(BinaryOp::Div, x, y),
            Signed | Unsigned | Bool => b.op(Op::IntDiv {
                signed: class == Signed,
                lhs: x,
                rhs: y,
                count,
            }),
        },
        ScalarFn::Maximum => match class {
            Float => b.binary(BinaryOp::Maximum, x, y),
            Signed => b.binary(BinaryOp::Max, x, y),
            Unsigned => b.binary(BinaryOp::UMax, x, y),
            Bool => b.mask_op(MaskOp::Or, x, y),
        },
        ScalarFn::Minimum => match class {
            Float => minimum(b, x, y),
            Signed => b.binary(BinaryOp::Min, x, y),
            Unsigned => b.binary(BinaryOp::UMin, x, y),
            Bool => b.mask_op(MaskOp::And, x, y),
        },
        ScalarFn::Neg => negated(b, class, x),
        ScalarFn::Abs => match class {
            Float => b.unary(UnaryOp::Abs, x),
            Signed => {
                let negated = negated(b, class, x);
                b.binary(BinaryOp::Max, x, negated)
            }
            Unsigned | Bool => x,
        },
        ScalarFn::Relu => match class {
            Float | Signed => {
                let zero = zero(b, x);
                b.binary(BinaryOp::Max, x, zero)
            }
            Unsigned | Bool => x,
        },
        ScalarFn::Sqrt => b.unary(UnaryOp::Sqrt, x),
        ScalarFn::Fma => b.fma(x, operands[1], y),
        ScalarFn::Equal => match class {
            Float | Signed | Unsigned => b.compare(Predicate::Eq, x, y),
            Bool => {
                let differ = truth::differ(b, x, y);
                truth::not(b, differ)
            }
        },
        ScalarFn::NotEqual => match class {
            Float | Signed | Unsigned => {
                let equal = b.compare(Predicate::Eq, x, y);
                truth::not(b, equal)
            }
            Bool => truth::differ(b, x, y),
        },
        ScalarFn::Less => less(b, class, x, y),
        ScalarFn::Greater => less(b, class, y, x),
        ScalarFn::LessEqual => less_equal(b, class, x, y),
        ScalarFn::GreaterEqual => less_equal(b, class, y, x),
        ScalarFn::Select => match class {
            Float | Signed | Unsigned => {
                let lane = b.lane(y);
                let mask = truth::mask(b, x, lane);
                b.select(mask, operands[1], y)
            }
            Bool => truth::choose(b, x, operands[1], y),
        },
        ScalarFn::And => match class {
            Float | Signed | Unsigned => b.binary(BinaryOp::And, x, y),
            Bool => b.mask_op(MaskOp::And, x, y),
        },
        ScalarFn::Or => match class {
            Float | Signed | Unsigned => b.binary(BinaryOp::Or, x, y),
            Bool => b.mask_op(MaskOp::Or, x, y),
        },
        ScalarFn::Xor => match class {
            Float | Signed | Unsigned => b.binary(BinaryOp::Xor, x, y),
            Bool => truth::differ(b, x, y),
        },
        ScalarFn::Not => match class {
            Float | Signed | Unsigned => {
                let lane = b.lane(x);
                let ones = b.constant(lane, lane.mask());
                b.binary(BinaryOp::Xor, x, ones)
            }
            Bool => truth::not(b, x),
        },
        ScalarFn::ShiftLeft => shifted(b, ShiftOp::Shl, x, y),
        ScalarFn::ShiftRight => match class {
            Signed => shifted(b, ShiftOp::Sra, x, y),
            Float | Unsigned | Bool => shifted(b, ShiftOp::Shr, x, y),
        },
        ScalarFn::Rsqrt => {
            let one = number(b, x, 1.0);
            let root = b.unary(UnaryOp::Sqrt, x);
            b.binary(BinaryOp::Div, one, root)
        }
        ScalarFn::Sign => sign(b, class, x),
        ScalarFn::Floor => b.unary(UnaryOp::Floor, x),
        ScalarFn::Ceil => b.unary(UnaryOp::Ceil, x),
        ScalarFn::Trunc => b.unary(UnaryOp::Trunc, x),
        ScalarFn::Round => b.unary(UnaryOp::Round, x),
        ScalarFn::Exp
        | ScalarFn::Log
        | ScalarFn::Tanh
        | ScalarFn::Erf
        | ScalarFn::Sigmoid
        | ScalarFn::Gelu
        | ScalarFn::Exp2
        | ScalarFn::Expm1
        | ScalarFn::Log2
        | ScalarFn::Log1p
        | ScalarFn::Sinh
        | ScalarFn::Cosh
        | ScalarFn::Sin
        | ScalarFn::Cos
        | ScalarFn::Tan
        | ScalarFn::Asin
        | ScalarFn::Acos
        | ScalarFn::Atan
        | ScalarFn::Asinh
        | ScalarFn::Acosh
        | ScalarFn::Atanh
        | ScalarFn::Atan2 => steps(b, function, operands),
        ScalarFn::Mod | ScalarFn::Remainder => match class {
            Float => steps(b, function, operands),
            Signed | Unsigned | Bool => {
                let (divisor, left) = integer_remainder(b, class, [x, y], count);
                match function {
                    ScalarFn::Mod if class == Signed => with_sign_of(b, divisor, left),
                    _ => left,
                }
            }
        },
        ScalarFn::Pow => match class {
            Float => steps(b, function, operands),
            Signed | Unsigned | Bool => integer_power(b, class, [x, y], count),
        },
    }
}

/// A function composed of [`Steps`](mind_ir::scalar::math::Steps).
fn steps(b: &mut Builder, function: ScalarFn, operands: &[Value]) -> Value {
    let result = match b.lane(operands[0]) {
        Lane::F64 => function.steps(&mut VectorSteps::<f64>::new(b), operands),
        Lane::F32 | Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => {
            function.steps(&mut VectorSteps::<f32>::new(b), operands)
        }
    };
    result.expect("it is made of steps")
}

fn less(b: &mut Builder, class: DTypeClass, x: Value, y: Value) -> Value {
    match class {
        DTypeClass::Float | DTypeClass::Signed => b.compare(Predicate::Lt, x, y),
        DTypeClass::Unsigned => b.compare(Predicate::ULt, x, y),
        DTypeClass::Bool => b.mask_op(MaskOp::AndNot, y, x),
    }
}

fn less_equal(b: &mut Builder, class: DTypeClass, x: Value, y: Value) -> Value {
    match class {
        DTypeClass::Float | DTypeClass::Signed => b.compare(Predicate::Le, x, y),
        DTypeClass::Unsigned | DTypeClass::Bool => {
            let greater = less(b, class, y, x);
            truth::not(b, greater)
        }
    }
}

/// `x` shifted by the distance in each lane of `amount`; a distance that is negative or at least the lane width shifts
/// everything out. Lane types without variable shifts are shifted once for each bit of the distance.
fn shifted(b: &mut Builder, op: ShiftOp, x: Value, amount: Value) -> Value {
    let lane = b.lane(x);
    if BinaryOp::Shift(op).takes(lane) {
        return b.binary(BinaryOp::Shift(op), x, amount);
    }
    let (zero, width) = (b.constant(lane, 0), b.constant(lane, lane.bits().into()));
    let mut result = x;
    for bit in 0..lane.bits().ilog2() {
        let own = b.constant(lane, 1 << bit);
        let own = b.binary(BinaryOp::And, amount, own);
        let stays = b.compare(Predicate::Eq, own, zero);
        let moved = b.shift(op, result, 1 << bit);
        result = b.select(stays, result, moved);
    }
    let beyond = match op {
        ShiftOp::Shl | ShiftOp::Shr => zero,
        ShiftOp::Sra => b.shift(op, x, lane.bits() - 1),
    };
    let fits = b.compare(Predicate::ULt, amount, width);
    b.select(fits, result, beyond)
}

fn zero(b: &mut Builder, like: Value) -> Value {
    let lane = b.lane(like);
    b.constant(lane, 0)
}

/// Broadcasts a number to a vector of the type of `like`.
fn number(b: &mut Builder, like: Value, number: f32) -> Value {
    match b.lane(like) {
        Lane::F64 => b.f64(number.into()),
        Lane::F32 | Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => b.f32(number),
    }
}

fn negated(b: &mut Builder, class: DTypeClass, x: Value) -> Value {
    if class == DTypeClass::Float {
        return b.unary(UnaryOp::Neg, x);
    }
    let zero = zero(b, x);
    b.binary(BinaryOp::Sub, zero, x)
}

/// -1 below zero, 1 above; zeros and NaN are unchanged.
fn sign(b: &mut Builder, class: DTypeClass, x: Value) -> Value {
    let lane = b.lane(x);
    match class {
        DTypeClass::Float => {
            let [zero, one, minus_one] = [0.0, 1.0, -1.0].map(|sign| number(b, x, sign));
            let is_positive = b.compare(Predicate::Lt, zero, x);
            let is_negative = b.compare(Predicate::Lt, x, zero);
            let rest = b.select(is_negative, minus_one, x);
            b.select(is_positive, one, rest)
        }
        DTypeClass::Signed => {
            let [one, minus_one] = [1, u64::MAX].map(|sign| b.constant(lane, sign));
            let x = b.binary(BinaryOp::Min, x, one);
            b.binary(BinaryOp::Max, x, minus_one)
        }
        DTypeClass::Unsigned | DTypeClass::Bool => {
            let one = b.constant(lane, 1);
            b.binary(BinaryOp::UMin, x, one)
        }
    }
}

/// Returns the remainder of `x` by `y`, truncated, and the divisor, which is replaced by 1 if it is -1 because the
/// remainder is 0 and does not overflow then.
fn integer_remainder(
    b: &mut Builder,
    class: DTypeClass,
    [x, y]: [Value; 2],
    count: Option<Value>,
) -> (Value, Value) {
    let (lane, signed) = (b.lane(x), class == DTypeClass::Signed);
    let mut divisor = y;
    if signed {
        let [one, minus_one] = [1, u64::MAX].map(|number| b.constant(lane, number));
        let is_minus_one = b.compare(Predicate::Eq, y, minus_one);
        divisor = b.select(is_minus_one, one, y);
    }
    let quotient = b.op(Op::IntDiv {
        signed,
        lhs: x,
        rhs: divisor,
        count,
    });
    let whole = b.binary(BinaryOp::Mul, quotient, divisor);
    (divisor, b.binary(BinaryOp::Sub, x, whole))
}

/// Adds `divisor` to the remainder `left` if their signs differ.
fn with_sign_of(b: &mut Builder, divisor: Value, left: Value) -> Value {
    let zero = zero(b, left);
    let signs = b.binary(BinaryOp::Xor, left, divisor);
    let differs = b.compare(Predicate::Lt, signs, zero);
    let moved = b.binary(BinaryOp::Add, left, divisor);
    let moved = b.select(differs, moved, left);
    let is_none = b.compare(Predicate::Eq, left, zero);
    b.select(is_none, left, moved)
}

/// Integer power by repeated squaring.
///
/// A negative exponent gives the power of 1 / x, which is 0 except for 1 and -1; the division reports a zero base.
fn integer_power(
    b: &mut Builder,
    class: DTypeClass,
    [x, y]: [Value; 2],
    count: Option<Value>,
) -> Value {
    let lane = b.lane(x);
    let [zero, one] = [0, 1].map(|number| b.constant(lane, number));
    let (mut base, mut exponent) = (x, y);
    if class == DTypeClass::Signed {
        let is_negative = b.compare(Predicate::Lt, y, zero);
        let divisor = b.select(is_negative, x, one);
        let inverse = b.op(Op::IntDiv {
            signed: true,
            lhs: one,
            rhs: divisor,
            count,
        });
        let opposite = b.binary(BinaryOp::Sub, zero, y);
        base = b.select(is_negative, inverse, x);
        exponent = b.select(is_negative, opposite, y);
    }
    let mut power = one;
    for bit in 0..lane.bits() {
        let bit = b.constant(lane, 1 << bit);
        let own = b.binary(BinaryOp::And, exponent, bit);
        let is_clear = b.compare(Predicate::Eq, own, zero);
        let product = b.binary(BinaryOp::Mul, power, base);
        power = b.select(is_clear, power, product);
        base = b.binary(BinaryOp::Mul, base, base);
    }
    power
}

/// The minimum, NaN if either operand is NaN, with -0 below +0.
///
/// `min` depends on the operand order only for NaN, where it returns its second operand, and for zeros; the bitwise or
/// of both orders is a NaN, and -0 if either is -0.
fn minimum(b: &mut Builder, x: Value, y: Value) -> Value {
    let first = b.binary(BinaryOp::Min, x, y);
    let second = b.binary(BinaryOp::Min, y, x);
    b.binary(BinaryOp::Or, first, second)
}
