//! Quotients by what is the same for a whole row: products with its reciprocal, corrected to the bits of a division.
//!
//! A division of 16 numbers of `f32` takes ten cycles, as long as twenty multiply-adds. With y the reciprocal of the
//! divisor d, rounded, and z what it lacks of 1/d, `x y + x z` rounded once is one of the two numbers around x/d. Its
//! remainder is exact, and the sum of it and the remainder times y rounds to what x/d rounds to (P. Markstein,
//! "Computation of elementary functions on the IBM RISC System/6000 processor", 1990). That holds where no step is
//! subnormal or overflows; what is out of [`Limits`] is divided.

use mind_vir::ir::{BinaryOp, Builder, ConvertOp, Lane, Predicate, UnaryOp, Value};

/// A divisor in every lane, and what stands in for dividing by it.
#[derive(Clone, Copy)]
pub(super) struct Divisor {
    divisor: Value,
    /// 1/d, rounded; NaN where d is out of its limits.
    reciprocal: Value,
    /// 1/d without what the reciprocal has of it, rounded.
    rest: Value,
    limits: &'static Limits,
}

/// A type of floats, and the powers of two between which magnitudes lie, ends included.
///
/// With p bits of precision, and q and d the least magnitudes, remainders are multiples of q d 2^(2-2p), which must be no less
/// than the least subnormal number. No product of a quotient and a divisor overflows.
struct Limits {
    /// Bits of the exponent 0.
    bias: u64,
    /// Bits of a number behind its exponent.
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
    /// Appends what is computed once for `divisor`, which has the same number in each lane; `None` if that is no float.
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

    /// The bits of 2^`exponent`.
    fn power(&self, exponent: i64) -> u64 {
        self.bias.wrapping_add_signed(exponent) << self.mantissa
    }

    /// The lanes of `x` that are NaN or whose magnitude is not between these powers of two.
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
