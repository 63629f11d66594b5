//! Expressions for one lane of a vector operation.

use crate::ir::{BinaryOp, ConvertOp, Lane, MaskOp, Predicate, ShiftOp, UnaryOp};

/// Returns the type of a lane, unsigned for integers because signed overflow is undefined.
pub(super) const fn c_type(lane: Lane) -> &'static str {
    match lane {
        Lane::I8 => "uint8_t",
        Lane::I16 => "uint16_t",
        Lane::I32 => "uint32_t",
        Lane::I64 => "uint64_t",
        Lane::F32 => "float",
        Lane::F64 => "double",
    }
}

/// Returns the signed type of an integer lane.
const fn signed(lane: Lane) -> &'static str {
    match lane.int() {
        Lane::I8 => "int8_t",
        Lane::I16 => "int16_t",
        Lane::I32 => "int32_t",
        _ => "int64_t",
    }
}

/// Returns the suffix of the names of helpers.
pub(super) const fn suffix(lane: Lane) -> &'static str {
    match lane {
        Lane::I8 => "u8",
        Lane::I16 => "u16",
        Lane::I32 => "u32",
        Lane::I64 => "u64",
        Lane::F32 => "f32",
        Lane::F64 => "f64",
    }
}

/// A constant with these bits.
pub(super) fn constant(lane: Lane, bits: u64) -> String {
    match lane {
        Lane::F32 => format!("mind_f32({bits:#x}u)"),
        Lane::F64 => format!("mind_f64(UINT64_C({bits:#x}))"),
        Lane::I64 => format!("UINT64_C({bits:#x})"),
        _ => format!("{bits:#x}u"),
    }
}

/// Returns the number for a comment; `None` if the text of the constant already shows it.
pub(super) fn remark(lane: Lane, bits: u64) -> Option<String> {
    match lane {
        Lane::F32 => Some(format!("{:?}", f32::from_bits(bits as u32))),
        Lane::F64 => Some(format!("{:?}", f64::from_bits(bits))),
        _ => None,
    }
}

pub(super) fn unary(op: UnaryOp, lane: Lane, x: &str) -> String {
    let suffix = suffix(lane);
    match op {
        UnaryOp::Neg => format!("-{x}"),
        UnaryOp::Abs => format!("mind_abs_{suffix}({x})"),
        UnaryOp::Sqrt => format!("mind_sqrt_{suffix}({x})"),
        UnaryOp::Floor => format!("mind_floor_{suffix}({x})"),
        UnaryOp::Ceil => format!("mind_ceil_{suffix}({x})"),
        UnaryOp::Trunc => format!("mind_trunc_{suffix}({x})"),
        UnaryOp::Round => format!("mind_round_{suffix}({x})"),
    }
}

pub(super) fn binary(op: BinaryOp, lane: Lane, x: &str, y: &str) -> String {
    let bitwise = |sign: char| {
        if lane.is_float() {
            let suffix = suffix(lane);
            format!("mind_{suffix}(mind_bits_{suffix}({x}) {sign} mind_bits_{suffix}({y}))")
        } else {
            format!("({})({x} {sign} {y})", c_type(lane))
        }
    };
    let arithmetic = |sign: char| match lane {
        // Narrower operands are promoted to `int`, where the product of two 16-bit operands can overflow.
        Lane::I8 | Lane::I16 => format!("({})((uint32_t){x} {sign} {y})", c_type(lane)),
        _ => format!("{x} {sign} {y}"),
    };
    let signed = |x: &str| match lane {
        Lane::F32 | Lane::F64 => x.to_owned(),
        _ => format!("({}){x}", signed(lane)),
    };
    match op {
        // Compilers warn if a number is compared with itself.
        BinaryOp::Min | BinaryOp::Max | BinaryOp::UMin | BinaryOp::UMax if x == y => x.to_owned(),
        BinaryOp::Add => arithmetic('+'),
        BinaryOp::Sub => arithmetic('-'),
        BinaryOp::Mul => arithmetic('*'),
        BinaryOp::MulHalves => {
            let low = |x: &str| format!("(uint32_t)(int16_t){x}");
            let high = |x: &str| format!("(uint32_t)((int32_t){x} >> 16)");
            let [low, high] = [[low(x), low(y)], [high(x), high(y)]].map(|pair| pair.join(" * "));
            format!("{low} + {high}")
        }
        BinaryOp::MulBytes => format!("mind_mul_bytes({x}, {y})"),
        BinaryOp::AddHalves => format!("mind_add_halves({x}, {y})"),
        BinaryOp::Div => format!("{x} / {y}"),
        BinaryOp::Min => format!("{} < {} ? {x} : {y}", signed(x), signed(y)),
        BinaryOp::Max => format!("{} < {} ? {x} : {y}", signed(y), signed(x)),
        BinaryOp::Maximum => format!("mind_maximum_{}({x}, {y})", suffix(lane)),
        BinaryOp::Scale => format!("mind_scale_{}({x}, {y})", suffix(lane)),
        BinaryOp::ScaleSum => format!("mind_scale_sum_{}({x}, {y})", suffix(lane)),
        BinaryOp::UMin => format!("{x} < {y} ? {x} : {y}"),
        BinaryOp::UMax => format!("{y} < {x} ? {x} : {y}"),
        BinaryOp::Shift(op) => {
            let helper = match op {
                ShiftOp::Shl => "shl",
                ShiftOp::Shr => "shr",
                ShiftOp::Sra => "sra",
            };
            format!("mind_{helper}_{}({x}, {y})", suffix(lane))
        }
        BinaryOp::And => bitwise('&'),
        BinaryOp::Or => bitwise('|'),
        BinaryOp::Xor => bitwise('^'),
    }
}

/// The third operand plus the dot product of the unsigned bytes of the first and the signed bytes of the second.
pub(super) fn dot_bytes([x, y, sum]: [String; 3]) -> String {
    let byte = |x: &str, at: u32| match at {
        0 => x.to_owned(),
        _ => format!("({x} >> {})", 8 * at),
    };
    let product = |at: u32| {
        let (x, y) = (byte(&x, at), byte(&y, at));
        format!("(uint32_t)(uint8_t){x} * (uint32_t)(int8_t){y}")
    };
    let terms: Vec<String> = [sum].into_iter().chain((0..4).map(product)).collect();
    terms.join(" + ")
}

pub(super) fn compare(predicate: Predicate, lane: Lane, x: &str, y: &str) -> String {
    let signed = |x: &str| match lane {
        Lane::F32 | Lane::F64 => x.to_owned(),
        _ => format!("({}){x}", signed(lane)),
    };
    match predicate {
        Predicate::Eq | Predicate::Le if x == y && !lane.is_float() => format!("!({x} - {x})"),
        Predicate::Lt | Predicate::ULt if x == y && !lane.is_float() => format!("({x} - {x}) != 0"),
        Predicate::Eq => format!("{x} == {y}"),
        Predicate::Lt => format!("{} < {}", signed(x), signed(y)),
        Predicate::Le => format!("{} <= {}", signed(x), signed(y)),
        Predicate::ULt => format!("{x} < {y}"),
        Predicate::Unordered if x == y => format!("{x} != {x}"),
        Predicate::Unordered => format!("({x} != {x}) | ({y} != {y})"),
    }
}

pub(super) fn mask(op: MaskOp, x: &str, y: &str) -> String {
    match op {
        MaskOp::And => format!("{x} & {y}"),
        MaskOp::Or => format!("{x} | {y}"),
        MaskOp::AndNot => format!("{x} & !{y}"),
    }
}

pub(super) fn shift(op: ShiftOp, lane: Lane, x: &str, n: u32) -> String {
    let ty = c_type(lane);
    match op {
        ShiftOp::Shl if lane.bits() < 32 => format!("({ty})((uint32_t){x} << {n})"),
        ShiftOp::Shl => format!("{x} << {n}"),
        ShiftOp::Shr => format!("({ty})({x} >> {n})"),
        ShiftOp::Sra => format!("({ty})(({}){x} >> {n})", signed(lane)),
    }
}

pub(super) fn convert(op: ConvertOp, from: Lane, to: Lane, x: &str) -> String {
    let ty = c_type(to);
    match op {
        ConvertOp::Bits if from == to => x.to_owned(),
        ConvertOp::Bits if to.is_float() => format!("mind_{}({x})", suffix(to)),
        ConvertOp::Bits => format!("mind_bits_{}({x})", suffix(from)),
        ConvertOp::HalfToF32 => format!("mind_half_to_f32({x})"),
        ConvertOp::F32ToHalf => format!("mind_f32_to_half({x})"),
        ConvertOp::Float | ConvertOp::ZeroExtend | ConvertOp::Truncate => format!("({ty}){x}"),
        ConvertOp::SignExtend => format!("({ty})({})({}){x}", signed(to), signed(from)),
        ConvertOp::FloatToInt => format!("({ty})mind_int_{}({x})", suffix(from)),
        ConvertOp::IntToFloat => format!("({ty})({}){x}", signed(from)),
    }
}

/// A quotient; requires a variable called `status`.
pub(super) fn divide(is_signed: bool, lane: Lane, x: &str, y: &str) -> String {
    let ty = c_type(lane);
    if is_signed {
        let (signed, bits) = (signed(lane), lane.bits());
        let operands = format!("({signed}){x}, ({signed}){y}, INT{bits}_MIN");
        format!("({ty})mind_div_signed({operands}, &status)")
    } else {
        format!("({ty})mind_div_unsigned({x}, {y}, &status)")
    }
}

/// A constant index.
pub(super) fn index(n: i64) -> String {
    if n == i64::MIN {
        // C has no literal for its magnitude.
        "INT64_MIN".to_owned()
    } else if i32::try_from(n).is_ok() {
        n.to_string()
    } else {
        format!("INT64_C({n})")
    }
}
