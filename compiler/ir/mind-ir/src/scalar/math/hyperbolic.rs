//! Shared parts of the hyperbolic functions and their inverses.

use super::exp::{ExpSum, exp_sum, inverse_power};
use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, horner};

/// e^a and e^-a, both divided by `scale`, a power of two.
pub(super) struct Exponentials<V> {
    pub growing: Pair<V>,
    pub falling: Pair<V>,
    pub scale: V,
}

/// Returns both exponentials with more than the working precision, for a from 0 to slightly above the range of `exp`.
#[inline]
pub(super) fn exponentials<B: Steps>(b: &mut B, a: B::Value) -> Exponentials<B::Value> {
    let one = b.value(B::Lane::ONE);
    let ExpSum { power, r, p } = exp_sum(b, a);
    let Pair { hi, lo } = ordered_sum(b, one, r);
    let lo = b.add(lo, p);
    let Pair { hi, lo } = ordered_sum(b, hi, lo);

    // inverse + inverse_lo = 1 / (hi + lo).
    let inverse = b.div(one, hi);
    let neg_inverse = b.neg(inverse);
    let rest = b.fma(neg_inverse, hi, one);
    let rest = b.fma(neg_inverse, lo, rest);
    let inverse_lo = b.mul(inverse, rest);

    let growing = Pair {
        hi: b.mul(hi, power.first),
        lo: b.mul(lo, power.first),
    };
    let first = inverse_power(b, power.first);
    let second = inverse_power(b, power.second);
    let falling_power = b.mul(first, second);
    let falling_power = b.mul(falling_power, second);
    let falling = Pair {
        hi: b.mul(inverse, falling_power),
        lo: b.mul(inverse_lo, falling_power),
    };
    Exponentials {
        growing,
        falling,
        scale: power.second,
    }
}

/// Returns the series a + a^3 P(a^2) if `a`, which is positive, is below `middle`, else `large`.
#[inline]
pub(super) fn with_series<B: Steps>(
    b: &mut B,
    a: B::Value,
    series: &'static [B::Lane],
    large: B::Value,
) -> B::Value {
    let a2 = b.mul(a, a);
    let a3 = b.mul(a2, a);
    let small = horner(b, a2, series);
    let small = b.fma(small, a3, a);
    let middle = b.value(B::Lane::HYPERBOLIC.middle);
    let is_small = b.lt(a, middle);
    b.select(is_small, small, large)
}

/// Returns the square root of `hi` + `lo` as a pair; 0 for 0.
#[inline]
pub(super) fn square_root<B: Steps>(b: &mut B, x: Pair<B::Value>) -> Pair<B::Value> {
    let hi = b.sqrt(x.hi);
    let neg_hi = b.neg(hi);
    let rest = b.fma(neg_hi, hi, x.hi);
    let rest = b.add(rest, x.lo);
    let twice = b.add(hi, hi);
    let normal = b.value(B::Lane::LOG.normal);
    let twice = b.max(twice, normal);
    let lo = b.div(rest, twice);
    Pair { hi, lo }
}
