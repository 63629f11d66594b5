//! `log`.

use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, horner};

/// ln(x).
///
/// With x = 2^e (1 + f) and |f| <= 1/3, the result is e ln(2) + ln(1 + f).
#[inline]
pub fn log<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let Split { e, f } = split(b, x);
    let (w, f2) = tail(b, f);
    let log1p = b.fma(f2, w, f);
    let ln2 = b.value(B::Lane::LOG.ln2);
    let finite = b.fma(e, ln2, log1p);
    with_special(b, x, finite)
}

/// A positive number as 2^e (1 + f) with |f| <= 1/3.
pub(super) struct Split<V> {
    pub e: V,
    pub f: V,
}

/// Splits a positive finite number.
#[inline]
pub(super) fn split<B: Steps>(b: &mut B, x: B::Value) -> Split<B::Value> {
    let c = B::Lane::LOG;
    let (normal, scale) = (b.value(c.normal), b.value(c.scale));
    let (bias, scaled_bias) = (b.value(c.bias), b.value(c.scaled_bias));
    let subnormal = b.lt(x, normal);
    let scaled = b.mul(x, scale);
    let y = b.select(subnormal, scaled, x);
    let bias = b.select(subnormal, scaled_bias, bias);
    split_normal(b, y, bias)
}

/// Splits a positive normal number. `bias` is subtracted from its biased exponent plus 2^MANTISSA.
#[inline]
fn split_normal<B: Steps>(b: &mut B, y: B::Value, bias: B::Value) -> Split<B::Value> {
    let c = B::Lane::LOG;
    // The offset moves the point where the exponent changes from 1 to `lowest`.
    let (lowest, offset) = (b.int(c.lowest), b.int(c.offset));
    let (mantissa, integer) = (b.int(c.mantissa), b.int(c.integer));
    let y = b.bits(y);
    let y = b.iadd(y, offset);
    let e = b.shr(y, B::Lane::MANTISSA);
    let e = b.or(e, integer);
    let e = b.float(e);
    let e = b.sub(e, bias);
    let m = b.and(y, mantissa);
    let m = b.iadd(m, lowest);
    let m = b.float(m);

    let one = b.value(B::Lane::ONE);
    Split {
        e,
        f: b.sub(m, one),
    }
}

/// Returns w and f^2 such that ln(1 + f) = f + f^2 w.
#[inline]
pub(super) fn tail<B: Steps>(b: &mut B, f: B::Value) -> (B::Value, B::Value) {
    let w = horner(b, f, B::Lane::LOG.poly);
    let f2 = b.mul(f, f);
    (w, f2)
}

/// Returns a logarithm of `x` to any base, given its value for positive finite `x`.
#[inline]
pub(super) fn with_special<B: Steps>(b: &mut B, x: B::Value, finite: B::Value) -> B::Value {
    let (zero, nan) = (b.value(B::Lane::ZERO), b.value(B::Lane::NAN));
    let (infinity, neg_infinity) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NEG_INFINITY));
    let is_zero = b.eq(x, zero);
    let is_positive = b.lt(zero, x);
    let is_finite = b.lt(x, infinity);
    let other = b.select(is_zero, neg_infinity, nan);
    let positive = b.select(is_finite, finite, x);
    b.select(is_positive, positive, other)
}

/// The argument of a logarithm with more than the working precision: 2^`doublings` `value` (1 + `correction`).
pub(super) struct Argument<V> {
    /// A positive normal number.
    pub value: V,
    /// Small enough that its square is negligible.
    pub correction: V,
    /// An integer; 0 if it is `None`.
    pub doublings: Option<V>,
}

/// Returns ln(x) with little more error than the last rounding, even if the result is small.
#[inline]
pub(super) fn log_of<B: Steps>(b: &mut B, x: Argument<B::Value>) -> B::Value {
    let c = B::Lane::LOG;
    let bias = b.value(c.bias);
    let Split { mut e, f } = split_normal(b, x.value, bias);
    if let Some(doublings) = x.doublings {
        e = b.add(e, doublings);
    }
    let (w, f2) = tail(b, f);
    let rest = b.fma(f2, w, x.correction);
    let (ln2_hi, ln2_lo) = (b.value(c.ln2_hi), b.value(c.ln2_lo));
    let rest = b.fma(e, ln2_lo, rest);
    let exponent = b.mul(e, ln2_hi);
    let Pair { hi, lo } = ordered_sum(b, exponent, f);
    let rest = b.add(rest, lo);
    b.add(hi, rest)
}
