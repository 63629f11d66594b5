//! Division by a uniform value: multiplication by its reciprocal, corrected to the bits of a division.
//!
//! A division of 16 `f32` numbers takes ten cycles, as long as twenty multiply-adds. Let y be the rounded reciprocal of
//! the divisor d, and z the rounded difference of 1/d and y. Then `x y + x z`, rounded once, is one of the two numbers
//! around x/d. Its remainder is exact, and the sum of it and the remainder times y rounds to the same number as x/d (P.
//! Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990). This holds if no step
//! is subnormal or overflows; other lanes, outside of [`Limits`], are divided.

use mind_vir::ir::{BinaryOp, Builder, ConvertOp, Lane, Predicate, UnaryOp, Value};

/// A divisor, equal in every lane, with its reciprocal.
#[derive(Clone, Copy)]
pub(super) struct Divisor {
    divisor: Value,
    /// 1/d, rounded; NaN if d is outside of its limits.
    reciprocal: Value,
    /// The difference of 1/d and the reciprocal, rounded.
    rest: Value,
    limits: &'static Limits,
}

/// A float type, and the exponent ranges in which the correction is exact, inclusive.
///
/// With p bits of precision, and q and d the least magnitudes, remainders are multiples of q d 2^(2-2p), which must not
/// be less than the least subnormal number. No product of a quotient and a divisor overflows.
/// than the least subnormal number. No product of a quotient and a divisor overflows.
struct Limits {
    /// The biased exponent of 1.
    bias: u64,
    /// Fraction bits.
    mantissa: u32,
    divisor: (i64, i64),
    quotient: (i64, i64),
}

/// The least subnormal number is 2^-149.
const F32: Limits = Limits {
    bias: 127,
    mantissa: 23,
    divisor: (-20, 60),
    quotient: (-80, 60),
};

/// The least subnormal number is 2^-1074.
const F64: Limits = Limits {
    bias: 1023,
    mantissa: 52,
    divisor: (-100, 200),
    quotient: (-800, 800),
};

impl Divisor {
    /// Appends the computation of the reciprocal of `divisor`, which is equal in every lane; returns `None` if it is
    /// not a float.
    pub fn new(b: &mut Builder, divisor: Value) -> Option<Divisor> {
        let lane = b.lane(divisor);
        let limits = Limits::of(lane)?;
        let one = b.constant(lane, limits.power(0));
        let nan = b.constant(lane, lane.mask() ^ lane.sign());
        let is_beyond = limits.miss(b, divisor, limits.divisor);
        let reciprocal = b.binary(BinaryOp::Div, one, divisor);
        let negated = b.unary(UnaryOp::Neg, divisor);
        let lacks = b.fma(negated, reciprocal, one);
        Some(Divisor {
            divisor,
            rest: b.binary(BinaryOp::Mul, lacks, reciprocal),
            reciprocal: b.select(is_beyond, nan, reciprocal),
            limits,
        })
    }

    /// `x` divided by the divisor, rounded once.
    pub fn divide(&self, b: &mut Builder, x: Value) -> Value {
        let small = b.binary(BinaryOp::Mul, x, self.rest);
        let near = b.fma(x, self.reciprocal, small);
        let negated = b.unary(UnaryOp::Neg, near);
        let remainder = b.fma(negated, self.divisor, x);
        let quotient = b.fma(remainder, self.reciprocal, near);
        let is_beyond = self.limits.miss(b, quotient, self.limits.quotient);
        let divided = b.if_any(is_beyond, &[quotient], |b| {
            vec![b.binary(BinaryOp::Div, x, self.divisor)]
        });
        divided[0]
    }
}

impl Limits {
    fn of(lane: Lane) -> Option<&'static Limits> {
        match lane {
            Lane::F32 => Some(&F32),
            Lane::F64 => Some(&F64),
            _ => None,
        }
    }

    /// Returns the bits of 2^`exponent`.
    fn power(&self, exponent: i64) -> u64 {
        self.bias.wrapping_add_signed(exponent) << self.mantissa
    }

    /// Returns the lanes of `x` that are NaN or whose magnitude is not between these powers of two.
    fn miss(&self, b: &mut Builder, x: Value, (least, most): (i64, i64)) -> Value {
        let int = b.lane(x).int();
        let magnitude = b.constant(int, int.mask() ^ int.sign());
        let start = b.constant(int, self.power(least));
        let length = b.constant(int, self.power(most) - self.power(least));
        let bits = b.convert(ConvertOp::Bits, int, x);
        let bits = b.binary(BinaryOp::And, bits, magnitude);
        let above = b.binary(BinaryOp::Sub, bits, start);
        b.compare(Predicate::ULt, length, above)
    }
}
