//! Operations on the bits of one lane.

use half::f16;
use mind_ir::scalar::math::{Scalar, Steps};
use mind_ir::tensor::Num;

use super::super::op::{BinaryOp, ConvertOp, Predicate, ShiftOp, UnaryOp};
use super::super::status::Status;
use super::super::types::Lane;

/// The bits of a lane as a signed number.
fn signed(lane: Lane, x: u64) -> i64 {
    let unused = 64 - lane.bits();
    (x << unused) as i64 >> unused
}

/// Applies `$f` to bits as numbers of the type `$lane`; returns bits.
macro_rules! on_float {
    ($lane:expr, |$($x:ident),*| $f:expr) => {
        match $lane {
            Lane::F32 => {
                $(let $x = f32::from_bits($x as u32);)*
                u64::from(f32::to_bits($f))
            }
            Lane::F64 => {
                $(let $x = f64::from_bits($x);)*
                f64::to_bits($f)
            }
            other => unreachable!("verified lanes are floats, found {other}"),
        }
    };
}

pub(super) fn unary(op: UnaryOp, lane: Lane, x: u64) -> u64 {
    match op {
        UnaryOp::Neg => x ^ lane.sign(),
        UnaryOp::Abs => x & !lane.sign(),
        UnaryOp::Sqrt => on_float!(lane, |x| x.sqrt()),
        UnaryOp::Floor => on_float!(lane, |x| x.floor()),
        UnaryOp::Ceil => on_float!(lane, |x| x.ceil()),
        UnaryOp::Trunc => on_float!(lane, |x| x.trunc()),
        UnaryOp::Round => on_float!(lane, |x| x.round_ties_even()),
    }
}

pub(super) fn binary(op: BinaryOp, lane: Lane, x: u64, y: u64) -> u64 {
    match op {
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        _ if lane.is_float() => match op {
            BinaryOp::Add => on_float!(lane, |x, y| x + y),
            BinaryOp::Sub => on_float!(lane, |x, y| x - y),
            BinaryOp::Mul => on_float!(lane, |x, y| x * y),
            BinaryOp::Div => on_float!(lane, |x, y| x / y),
            BinaryOp::Min => on_float!(lane, |x, y| if x < y { x } else { y }),
            BinaryOp::Max => on_float!(lane, |x, y| if y < x { x } else { y }),
            BinaryOp::Maximum => on_float!(lane, |x, y| Num::maximum(x, y)),
            BinaryOp::Scale => on_float!(lane, |x, y| steps_of(x).scale(x, y)),
            BinaryOp::ScaleSum => on_float!(lane, |x, y| steps_of(x).scale_sum(x, y)),
            _ => unreachable!("verified lanes of {op:?} are integers"),
        },
        BinaryOp::Add => x.wrapping_add(y) & lane.mask(),
        BinaryOp::Sub => x.wrapping_sub(y) & lane.mask(),
        BinaryOp::Mul => x.wrapping_mul(y) & lane.mask(),
        BinaryOp::MulHalves => {
            let half = |x: u64, from: u32| i64::from((x >> from) as u16 as i16);
            let products = [0, 16].map(|from| half(x, from) * half(y, from));
            (products[0] + products[1]) as u64 & lane.mask()
        }
        BinaryOp::MulBytes => {
            let pair = |from: u32| {
                let products = [from, from + 8].map(|from| {
                    let [x, y] = [x, y].map(|bits| (bits >> from) as u8);
                    i32::from(x) * i32::from(y as i8)
                });
                let sum = (products[0] + products[1]).clamp(i16::MIN.into(), i16::MAX.into());
                u64::from(sum as u16) << from
            };
            pair(0) | pair(16)
        }
        BinaryOp::AddHalves => {
            let half = |from: u32| {
                let sum = ((x >> from) as u16).wrapping_add((y >> from) as u16);
                u64::from(sum) << from
            };
            half(0) | half(16)
        }
        BinaryOp::Min => signed(lane, x).min(signed(lane, y)) as u64 & lane.mask(),
        BinaryOp::Max => signed(lane, x).max(signed(lane, y)) as u64 & lane.mask(),
        BinaryOp::UMin => x.min(y),
        BinaryOp::UMax => x.max(y),
        BinaryOp::Shift(op) => {
            let (by, last) = (y.min(lane.bits().into()) as u32, lane.bits() - 1);
            match op {
                ShiftOp::Sra => shift(op, lane, x, by.min(last)),
                ShiftOp::Shl | ShiftOp::Shr if by > last => 0,
                ShiftOp::Shl | ShiftOp::Shr => shift(op, lane, x, by),
            }
        }
        BinaryOp::Div | BinaryOp::Maximum | BinaryOp::Scale | BinaryOp::ScaleSum => {
            unreachable!("verified lanes of {op:?} are floats")
        }
    }
}

/// The steps of functions of numbers of the type of `x`.
fn steps_of<T: Default>(_: T) -> Scalar<T> {
    Scalar::default()
}

pub(super) fn fma(lane: Lane, x: u64, y: u64, z: u64) -> u64 {
    on_float!(lane, |x, y, z| x.mul_add(y, z))
}

/// Returns `sum` plus the dot product of the unsigned bytes of `x` and the signed bytes of `y`.
pub(super) fn dot_bytes(x: u64, y: u64, sum: u64) -> u64 {
    let products = (0..4).map(|byte| {
        let [x, y] = [x, y].map(|bits| (bits >> (8 * byte)) as u8);
        i32::from(x) * i32::from(y as i8)
    });
    let sum = products.fold(sum as u32 as i32, i32::wrapping_add);
    u64::from(sum as u32)
}

/// Returns the quotient and the status.
pub(super) fn divide(is_signed: bool, lane: Lane, x: u64, y: u64) -> (u64, Status) {
    if y == 0 {
        return (0, Status::ZERO_DIVISOR);
    }
    if !is_signed {
        return (x / y, Status::OK);
    }
    if x == lane.sign() && y == lane.mask() {
        return (x, Status::QUOTIENT_OVERFLOW);
    }
    let quotient = signed(lane, x) / signed(lane, y);
    (quotient as u64 & lane.mask(), Status::OK)
}

pub(super) fn compare(predicate: Predicate, lane: Lane, x: u64, y: u64) -> bool {
    if lane.is_float() {
        // Exact, because every f32 is an f64 and the order is the same.
        let float = |x: u64| match lane {
            Lane::F32 => f64::from(f32::from_bits(x as u32)),
            _ => f64::from_bits(x),
        };
        let (x, y) = (float(x), float(y));
        return match predicate {
            Predicate::Eq => x == y,
            Predicate::Lt => x < y,
            Predicate::Le => x <= y,
            Predicate::Unordered => x.is_nan() || y.is_nan(),
            Predicate::ULt => unreachable!("verified lanes of {predicate:?} are integers"),
        };
    }
    let (a, b) = (signed(lane, x), signed(lane, y));
    match predicate {
        Predicate::Eq => a == b,
        Predicate::Lt => a < b,
        Predicate::Le => a <= b,
        Predicate::ULt => x < y,
        Predicate::Unordered => unreachable!("verified lanes of {predicate:?} are floats"),
    }
}

pub(super) fn shift(op: ShiftOp, lane: Lane, x: u64, n: u32) -> u64 {
    match op {
        ShiftOp::Shl => x << n & lane.mask(),
        ShiftOp::Shr => x >> n,
        ShiftOp::Sra => (signed(lane, x) >> n) as u64 & lane.mask(),
    }
}

pub(super) fn convert(op: ConvertOp, from: Lane, to: Lane, x: u64) -> u64 {
    let f32_bits = |x: f32| u64::from(x.to_bits());
    match op {
        ConvertOp::Bits | ConvertOp::ZeroExtend => x,
        ConvertOp::SignExtend => signed(from, x) as u64 & to.mask(),
        ConvertOp::Truncate => x & to.mask(),
        ConvertOp::HalfToF32 => f32_bits(f16::from_bits(x as u16).to_f32()),
        ConvertOp::F32ToHalf => f16::from_f32(f32::from_bits(x as u32)).to_bits().into(),
        ConvertOp::Float if to == Lane::F64 => f64::from(f32::from_bits(x as u32)).to_bits(),
        ConvertOp::Float => f32_bits(f64::from_bits(x) as f32),
        ConvertOp::FloatToInt => {
            let x = match from {
                Lane::F32 => f64::from(f32::from_bits(x as u32)),
                Lane::F64 | Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => f64::from_bits(x),
            };
            let inside = (f64::from(i32::MIN)..-f64::from(i32::MIN)).contains(&x);
            u64::from(if inside { x as i32 } else { i32::MIN } as u32)
        }
        ConvertOp::IntToFloat if to == Lane::F64 => f64::from(x as i32).to_bits(),
        ConvertOp::IntToFloat => f32_bits(x as i32 as f32),
    }
}
