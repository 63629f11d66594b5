//! Exact sums and products.

use super::steps::Steps;

/// The unevaluated sum of two numbers, the second of which is the rounding error of the first.
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub hi: V,
    pub lo: V,
}

/// Returns `x + y`, exact for any finite numbers whose sum is finite.
#[inline]
pub(super) fn sum<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> Pair<B::Value> {
    let hi = b.add(x, y);
    let y_rounded = b.sub(hi, x);
    let x_rounded = b.sub(hi, y_rounded);
    let x_lo = b.sub(x, x_rounded);
    let y_lo = b.sub(y, y_rounded);
    let lo = b.add(x_lo, y_lo);
    Pair { hi, lo }
}

/// Returns `x + y`, exact if |x| >= |y| or `x` is a zero.
#[inline]
pub(super) fn ordered_sum<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> Pair<B::Value> {
    let hi = b.add(x, y);
    let rounded = b.sub(x, hi);
    let lo = b.add(rounded, y);
    Pair { hi, lo }
}

/// Returns `x * y`, exact unless a result is subnormal.
#[inline]
pub(super) fn product<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> Pair<B::Value> {
    let hi = b.mul(x, y);
    let neg_hi = b.neg(hi);
    let lo = b.fma(x, y, neg_hi);
    Pair { hi, lo }
}
