//! The IEEE-exact steps that every math function is made of.

use super::constants;
use super::exp::{Factors, factors};

/// A floating-point type that the functions are defined for.
///
/// The coefficients of each function hang on the type, so that one definition serves every width.
pub trait Lane: Copy + 'static {
    /// The unsigned integer with the width of the type.
    type Bits: Copy;

    /// Number of bits.
    const WIDTH: u32;
    /// Number of stored mantissa bits.
    const MANTISSA: u32;
    /// The mask of the sign bit.
    const SIGN: Self::Bits;
    /// The mask of all bits but the sign.
    const MAGNITUDE: Self::Bits;

    /// 0.
    const ZERO: Self;
    /// -0.
    const NEG_ZERO: Self;
    /// -1/2.
    const NEG_HALF: Self;
    /// 1/2.
    const HALF: Self;
    /// 1.
    const ONE: Self;
    /// -1.
    const NEG_ONE: Self;
    /// 2.
    const TWO: Self;
    /// -2.
    const NEG_TWO: Self;
    /// The largest finite number.
    const LARGEST: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEG_INFINITY: Self;
    /// Any NaN.
    const NAN: Self;

    /// 2^24 or 2^53: what every digit of an exact quotient is below.
    const DIGIT: Self;
    /// Digits of the quotient of the largest by the smallest number.
    const DIGITS: usize;

    /// Constants of the argument reduction and polynomial of `exp`.
    const EXP: constants::exp::Constants<Self, Self::Bits>;
    /// Constants of `exp2`.
    const EXP2: constants::exp2::Constants<Self>;
    /// Constants of `log`.
    const LOG: constants::log::Constants<Self, Self::Bits>;
    /// Constants of `tanh`.
    const TANH: constants::tanh::Constants<Self>;
    /// Constants of `erf`.
    const ERF: constants::erf::Constants<Self>;
    /// Constants of `sigmoid`.
    const SIGMOID: constants::sigmoid::Constants<Self>;
    /// Constants of `gelu`.
    const GELU: constants::gelu::Constants<Self>;
    /// Constants of the hyperbolic functions and their inverses.
    const HYPERBOLIC: constants::hyperbolic::Constants<Self>;
    /// Constants of the circular functions.
    const CIRCULAR: constants::circular::Constants<Self>;
    /// Constants of `pow`.
    const POW: constants::pow::Constants<Self>;
    /// Constants of the arc functions.
    const ARC: constants::arc::Constants<Self>;
}

/// What carries out, or records, the steps of a math function.
///
/// [`Scalar`](super::Scalar) computes them; a lowering implements the trait on its builder and
/// gets each function expanded into its own IR. Every step has one result in IEEE 754 (round to
/// nearest even, subnormals kept), so all implementations give the same bits. There is no step
/// that some vector ISA lacks: neither table lookups, nor 64-bit arithmetic shifts, nor
/// conversions between integers and floats.
///
/// What only few elements need, such as the reduction of a large angle, is a body of [`Steps::if_any`], which
/// vectors skip unless one of their elements needs it.
pub trait Steps {
    /// The type of one element.
    type Lane: Lane;
    /// One or more floating-point elements.
    type Value: Copy;
    /// One or more integers as wide as [`Self::Lane`](Steps::Lane).
    type Int: Copy;
    /// One or more truth values.
    type Mask: Copy;

    /// A floating-point constant.
    fn value(&mut self, c: Self::Lane) -> Self::Value;
    /// An integer constant.
    fn int(&mut self, c: <Self::Lane as Lane>::Bits) -> Self::Int;

    /// `a + b`.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a - b`.
    fn sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `-a`, exact; meant to be folded into the multiply-add that uses it.
    fn neg(&mut self, a: Self::Value) -> Self::Value;
    /// `a * b`.
    fn mul(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a / b`.
    fn div(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The square root of `a`.
    fn sqrt(&mut self, a: Self::Value) -> Self::Value;
    /// `a * b + c`, rounded once.
    fn fma(&mut self, a: Self::Value, b: Self::Value, c: Self::Value) -> Self::Value;

    /// The integer that is nearest to `a`, ties to even.
    fn round(&mut self, a: Self::Value) -> Self::Value;

    /// `a < b`; false when either is NaN.
    fn lt(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// `a == b`; false when either is NaN, true for zeros of either sign.
    fn eq(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Whether either is NaN.
    fn unordered(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Whether either holds.
    fn either(&mut self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// What `body` computes where `mask` holds, else `otherwise`.
    ///
    /// The body may run for elements that do not need it.
    fn if_any<const N: usize>(
        &mut self,
        mask: Self::Mask,
        otherwise: [Self::Value; N],
        body: impl FnOnce(&mut Self) -> [Self::Value; N],
    ) -> [Self::Value; N];
    /// `a` where `mask` holds, else `b`; the one not taken may be anything, NaN included.
    fn select(&mut self, mask: Self::Mask, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a < b ? a : b`, thus `b` when either is NaN or both are zeros: what `vminps` computes.
    fn min(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        let less = self.lt(a, b);
        self.select(less, a, b)
    }
    /// `b < a ? a : b`, thus `b` when either is NaN or both are zeros: what `vmaxps` computes.
    fn max(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        let greater = self.lt(b, a);
        self.select(greater, a, b)
    }

    /// `a` 2^n, where `k` is the sum of an integer n, up to twice the exponents of normal numbers, and
    /// [`round_twice`](constants::exp::Constants::round_twice): exact, or overflows, or is rounded once where it is subnormal. `a` is neither
    /// subnormal nor becomes so by the root of the power, and is NaN if `k` is.
    #[inline]
    fn scale(&mut self, a: Self::Value, k: Self::Value) -> Self::Value
    where
        Self: Sized,
    {
        let Factors { first, second } = factors(self, k);
        let scaled = self.mul(a, first);
        self.mul(scaled, second)
    }

    /// (1 + `q`) 2^n, where |q| <= 1/2, or q is NaN, and `k` is as for [`scale`](Steps::scale): the sum is rounded, and then scaled.
    #[inline]
    fn scale_sum(&mut self, q: Self::Value, k: Self::Value) -> Self::Value
    where
        Self: Sized,
    {
        let Factors { first, second } = factors(self, k);
        let scaled = self.fma(q, first, first);
        self.mul(scaled, second)
    }

    /// The bit pattern of `a`.
    fn bits(&mut self, a: Self::Value) -> Self::Int;
    /// The float with the bit pattern `a`.
    fn float(&mut self, a: Self::Int) -> Self::Value;
    /// `a + b`, wrapping.
    fn iadd(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// `a - b`, wrapping.
    fn isub(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise and.
    fn and(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Bitwise or.
    fn or(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// `a` shifted left by `n`, less than the width.
    fn shl(&mut self, a: Self::Int, n: u32) -> Self::Int;
    /// `a` shifted right by `n`, less than the width, zeros shifted in.
    fn shr(&mut self, a: Self::Int, n: u32) -> Self::Int;
}

/// The polynomial with these coefficients, constant term first, by Horner's rule.
///
/// # Panics
///
/// If there are no coefficients.
#[inline]
pub fn horner<B: Steps>(b: &mut B, x: B::Value, coefficients: &[B::Lane]) -> B::Value {
    let (&last, rest) = coefficients
        .split_last()
        .expect("a polynomial has a coefficient");
    let mut sum = b.value(last);
    for &c in rest.iter().rev() {
        let c = b.value(c);
        sum = b.fma(sum, x, c);
    }
    sum
}

/// The absolute value of `x` and the sign bit of `x`.
#[inline]
pub(super) fn split_sign<B: Steps>(b: &mut B, x: B::Value) -> (B::Value, B::Int) {
    let (sign, magnitude) = (b.int(B::Lane::SIGN), b.int(B::Lane::MAGNITUDE));
    let bits = b.bits(x);
    let (sign, magnitude) = (b.and(bits, sign), b.and(bits, magnitude));
    (b.float(magnitude), sign)
}

/// `x`, whose sign bit is clear, with the sign bit `sign`.
#[inline]
pub(super) fn join_sign<B: Steps>(b: &mut B, x: B::Value, sign: B::Int) -> B::Value {
    let bits = b.bits(x);
    let bits = b.or(bits, sign);
    b.float(bits)
}
