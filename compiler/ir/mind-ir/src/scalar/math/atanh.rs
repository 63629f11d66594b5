//! `atanh`.

use super::hyperbolic::with_series;
use super::log::{Argument, log_of};
use super::pair::ordered_sum;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// atanh(x); infinite at -1 and 1, NaN beyond.
///
/// With a = |x|, it is ln((1 + a) / (1 - a)) / 2, with the rounding error of the quotient as a correction; a series for
/// small a.
#[inline]
pub fn atanh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, sign) = split_sign(b, x);
    let one = b.value(B::Lane::ONE);
    let neg_a = b.neg(a);
    let above = ordered_sum(b, one, a);
    let below = ordered_sum(b, one, neg_a);
    let quotient = b.div(above.hi, below.hi);
    let neg_quotient = b.neg(quotient);
    let rest = b.fma(neg_quotient, below.hi, above.hi);
    let rest = b.add(rest, above.lo);
    let rest = b.fma(neg_quotient, below.lo, rest);
    let correction = b.div(rest, above.hi);
    let argument = Argument {
        value: quotient,
        correction,
        doublings: None,
    };
    let log = log_of(b, argument);
    let half = b.value(B::Lane::HALF);
    let inside = b.mul(log, half);

    let (infinity, nan) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NAN));
    let is_inside = b.lt(a, one);
    let is_end = b.eq(a, one);
    let other = b.select(is_end, infinity, nan);
    let large = b.select(is_inside, inside, other);
    let result = with_series(b, a, B::Lane::HYPERBOLIC.atanh, large);
    join_sign(b, result, sign)
}
