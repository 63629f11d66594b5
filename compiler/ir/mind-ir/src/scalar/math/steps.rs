//! The exactly specified IEEE 754 steps of the math functions.

use super::constants;
use super::exp::{Factors, factors};

/// A floating-point type that the functions are defined for.
///
/// It carries the coefficients of each function, so that one definition of a function serves every type.
pub trait Lane: Copy + 'static {
    /// The unsigned integer of the same width.
    type Bits: Copy;

    /// The number of bits.
    const WIDTH: u32;
    /// The number of stored mantissa bits.
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

    /// The base of the digits of an exact quotient: 2^24 or 2^53.
    const DIGIT: Self;
    /// The number of digits of the largest quotient, that of the largest number divided by the smallest.
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

/// Evaluates or records the steps of a math function.
///
/// [`Scalar`](super::Scalar) evaluates them; a lowering implements the trait on its builder to expand each function
/// into its own IR. The result of every step is specified by IEEE 754 (round to nearest even, subnormals kept), so all
/// implementations give the same bits. Every step exists in all vector ISAs; table lookups, 64-bit
/// arithmetic shifts and conversions between integers and floats do not.
///
/// Steps that only few elements need, for example the reduction of a large angle, are in the body of [`Steps::if_any`],
/// which vectors skip unless one of their elements needs it.
pub trait Steps {
    /// The type of one element.
    type Lane: Lane;
    /// One or more floating-point elements.
    type Value: Copy;
    /// One or more integers as wide as [`Self::Lane`](Steps::Lane).
    type Int: Copy;
    /// One or more booleans.
    type Mask: Copy;

    /// Returns a floating-point constant.
    fn value(&mut self, c: Self::Lane) -> Self::Value;
    /// Returns an integer constant.
    fn int(&mut self, c: <Self::Lane as Lane>::Bits) -> Self::Int;

    /// Returns `a + b`.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns `a - b`.
    fn sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns `-a`, which is exact. Implementations can fold it into the multiply-add that uses it.
    fn neg(&mut self, a: Self::Value) -> Self::Value;
    /// Returns `a * b`.
    fn mul(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns `a / b`.
    fn div(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns the square root of `a`.
    fn sqrt(&mut self, a: Self::Value) -> Self::Value;
    /// Returns `a * b + c`, rounded once.
    fn fma(&mut self, a: Self::Value, b: Self::Value, c: Self::Value) -> Self::Value;

    /// Returns the integer nearest to `a`, ties to even.
    fn round(&mut self, a: Self::Value) -> Self::Value;

    /// Returns `a < b`, which is false if either is NaN.
    fn lt(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Returns `a == b`, which is false if either is NaN, and true for zeros of either sign.
    fn eq(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Returns whether either is NaN.
    fn unordered(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Returns the disjunction of two masks.
    fn either(&mut self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Returns the results of `body` where `mask` holds, else `otherwise`.
    ///
    /// The body may also be evaluated for elements that do not need it.
    fn if_any<const N: usize>(
        &mut self,
        mask: Self::Mask,
        otherwise: [Self::Value; N],
        body: impl FnOnce(&mut Self) -> [Self::Value; N],
    ) -> [Self::Value; N];
    /// Returns `a` where `mask` holds, else `b`. The value that is not selected may be anything, including NaN.
    fn select(&mut self, mask: Self::Mask, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns `a < b ? a : b`, as `vminps` does: `b` if either is NaN or both are zeros.
    fn min(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        let less = self.lt(a, b);
        self.select(less, a, b)
    }
    /// Returns `b < a ? a : b`, as `vmaxps` does: `b` if either is NaN or both are zeros.
    fn max(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        let greater = self.lt(b, a);
        self.select(greater, a, b)
    }

    /// Returns `a` 2^n, where `k` is the sum of [`round_twice`](constants::exp::Constants::round_twice) and an integer
    /// n of up to twice the largest exponent. The result is exact, overflows, or is subnormal and rounded once.
    ///
    /// Neither `a` nor its product with 2^(n/2) may be subnormal, and `a` must be NaN if `k` is NaN.
    #[inline]
    fn scale(&mut self, a: Self::Value, k: Self::Value) -> Self::Value
    where
        Self: Sized,
    {
        let Factors { first, second } = factors(self, k);
        let scaled = self.mul(a, first);
        self.mul(scaled, second)
    }

    /// Returns (1 + `q`) 2^n, where |q| <= 1/2, or q is NaN, and `k` is as for [`scale`](Steps::scale). The sum is
    /// rounded before it is scaled.
    #[inline]
    fn scale_sum(&mut self, q: Self::Value, k: Self::Value) -> Self::Value
    where
        Self: Sized,
    {
        let Factors { first, second } = factors(self, k);
        let scaled = self.fma(q, first, first);
        self.mul(scaled, second)
    }

    /// Returns the bit pattern of `a`.
    fn bits(&mut self, a: Self::Value) -> Self::Int;
    /// Returns the float with the bit pattern `a`.
    fn float(&mut self, a: Self::Int) -> Self::Value;
    /// Returns `a + b`, wrapping.
    fn iadd(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Returns `a - b`, wrapping.
    fn isub(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Returns the bitwise and.
    fn and(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Returns the bitwise or.
    fn or(&mut self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// Returns `a` shifted left by `n`, which is less than the width.
    fn shl(&mut self, a: Self::Int, n: u32) -> Self::Int;
    /// Returns `a` shifted right logically by `n`, which is less than the width.
    fn shr(&mut self, a: Self::Int, n: u32) -> Self::Int;
}

/// Evaluates the polynomial with these coefficients, constant term first, by Horner's rule.
///
/// # Panics
///
/// If `coefficients` is empty.
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

/// Returns the absolute value and the sign bit of `x`.
#[inline]
pub(super) fn split_sign<B: Steps>(b: &mut B, x: B::Value) -> (B::Value, B::Int) {
    let (sign, magnitude) = (b.int(B::Lane::SIGN), b.int(B::Lane::MAGNITUDE));
    let bits = b.bits(x);
    let (sign, magnitude) = (b.and(bits, sign), b.and(bits, magnitude));
    (b.float(magnitude), sign)
}

/// Returns `x`, whose sign bit is clear, with the sign bit `sign`.
#[inline]
pub(super) fn join_sign<B: Steps>(b: &mut B, x: B::Value, sign: B::Int) -> B::Value {
    let bits = b.bits(x);
    let bits = b.or(bits, sign);
    b.float(bits)
}
