//! `log1p`.

use super::log::{Argument, log_of};
use super::pair::{Pair, sum};
use super::steps::{Lane, Steps};

/// ln(1 + x), with the rounding error of 1 + x as a correction.
#[inline]
pub fn log1p<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let one = b.value(B::Lane::ONE);
    let Pair { hi, lo } = sum(b, one, x);
    let correction = b.div(lo, hi);
    let argument = Argument {
        value: hi,
        correction,
        doublings: None,
    };
    let finite = log_of(b, argument);

    let (zero, nan) = (b.value(B::Lane::ZERO), b.value(B::Lane::NAN));
    let (infinity, neg_infinity) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NEG_INFINITY));
    let neg_one = b.value(B::Lane::NEG_ONE);
    let is_zero = b.eq(x, zero);
    let is_least = b.eq(x, neg_one);
    let is_above = b.lt(neg_one, x);
    let is_finite = b.lt(x, infinity);
    let above = b.select(is_finite, finite, x);
    let above = b.select(is_zero, x, above);
    let other = b.select(is_least, neg_infinity, nan);
    b.select(is_above, above, other)
}
