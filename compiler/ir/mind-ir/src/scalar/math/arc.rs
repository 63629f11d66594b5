//! Shared parts of the arc functions.

use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, horner};

/// The reduction of a number a >= 0 for its arc sine.
pub(super) struct Reduced<B: Steps> {
    /// Whether a < 1/2.
    pub is_small: B::Mask,
    /// sqrt((1 - a) / 2).
    pub root: B::Value,
    /// The square of a if it is small, else of `root`.
    pub z: B::Value,
}

/// Returns the reduction of `a`, which is positive.
#[inline]
pub(super) fn reduce<B: Steps>(b: &mut B, a: B::Value) -> Reduced<B> {
    let (half, neg_half) = (b.value(B::Lane::HALF), b.value(B::Lane::NEG_HALF));
    let is_small = b.lt(a, half);
    let complement = b.fma(a, neg_half, half);
    let root = b.sqrt(complement);
    let square = b.mul(a, a);
    let z = b.select(is_small, square, complement);
    Reduced { is_small, root, z }
}

/// Returns `base` + k asin(s), where `argument` is k s and `z` is s^2.
#[inline]
pub(super) fn from_base<B: Steps>(
    b: &mut B,
    base: Pair<B::Value>,
    argument: B::Value,
    z: B::Value,
) -> B::Value {
    let p = horner(b, z, B::Lane::ARC.asin);
    let cube = b.mul(argument, z);
    let rest = b.fma(cube, p, base.lo);
    let Pair { hi, lo } = ordered_sum(b, base.hi, argument);
    let rest = b.add(rest, lo);
    b.add(hi, rest)
}

/// Returns `base` + atan(`numerator` / `denominator`) for a quotient of at most 1/2 in magnitude.
#[inline]
pub(super) fn from_quotient<B: Steps>(
    b: &mut B,
    base: Pair<B::Value>,
    numerator: B::Value,
    denominator: B::Value,
) -> B::Value {
    // t + t_lo = numerator / denominator.
    let one = b.value(B::Lane::ONE);
    let inverse = b.div(one, denominator);
    let t = b.mul(numerator, inverse);
    let neg_t = b.neg(t);
    let rest = b.fma(neg_t, denominator, numerator);
    let t_lo = b.mul(rest, inverse);

    let z = b.mul(t, t);
    let cube = b.mul(z, t);
    let p = horner(b, z, B::Lane::ARC.atan);
    let rest = b.fma(cube, p, t_lo);
    let rest = b.add(rest, base.lo);
    let Pair { hi, lo } = ordered_sum(b, base.hi, t);
    let rest = b.add(rest, lo);
    b.add(hi, rest)
}
