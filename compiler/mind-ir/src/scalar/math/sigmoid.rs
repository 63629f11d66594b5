//! `sigmoid`.

use super::exp::{PowerOfTwo, clamp, expm1_reduced, nearest_power};
use super::steps::{Lane, Steps};

/// Constants of [`sigmoid`].
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: Lane> {
    /// Below this the result rounds to 0, above its negative to 1.
    pub lowest: T,
    /// The negative of `lowest`.
    pub highest: T,
    /// Twice the exponent bias in the place of the exponent.
    pub twice_bias: T::Bits,
}

/// The constants for f32.
pub const F32: Constants<f32> = Constants { lowest: -104.0, highest: 104.0, twice_bias: 254 << 23 };

/// The constants for f64.
pub const F64: Constants<f64> = Constants { lowest: -746.0, highest: 746.0, twice_bias: 2046 << 52 };

/// 1 / (1 + e^-x).
///
/// With e^-x = first * second * (1 + q), both sides of the quotient are divided by `second`: then neither overflows
/// when the result is subnormal, and the sum is rounded once.
#[inline]
pub fn sigmoid<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::SIGMOID;
    let x = clamp(b, x, c.lowest, c.highest);
    let x = b.neg(x);
    let PowerOfTwo { n, first, second } = nearest_power(b, x);
    let (hi, lo) = (b.value(B::Lane::EXP.neg_ln2_hi), b.value(B::Lane::EXP.neg_ln2_lo));
    let r = b.fma(n, hi, x);
    let r = b.fma(n, lo, r);
    let q = expm1_reduced(b, r);
    let twice_bias = b.int(c.twice_bias);
    let second = b.bits(second);
    let inverse = b.isub(twice_bias, second);
    let inverse = b.float(inverse);
    let sum = b.add(first, inverse);
    let sum = b.fma(q, first, sum);
    b.div(inverse, sum)
}
