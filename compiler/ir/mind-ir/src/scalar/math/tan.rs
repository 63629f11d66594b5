//! `tan`.

use super::circular::{cosine_of_rest, is_even, negate_by, reduce, sine_of_rest};
use super::pair::Pair;
use super::steps::{Steps, split_sign};

/// tan(x), for any finite x; NaN for infinities.
///
/// Computed as the quotient of sine and cosine, or its negative inverse after an odd number of quarter turns, with the
/// rounding errors of both.
#[inline]
pub fn tan<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, sign) = split_sign(b, x);
    let turned = reduce(b, a);
    let sine = sine_of_rest(b, &turned.rest);
    let cosine = cosine_of_rest(b, &turned.rest);
    let is_even = is_even(b, turned.quarters);
    let (neg_hi, neg_lo) = (b.neg(cosine.hi), b.neg(cosine.lo));
    let over = Pair {
        hi: b.select(is_even, sine.hi, neg_hi),
        lo: b.select(is_even, sine.lo, neg_lo),
    };
    let under = Pair {
        hi: b.select(is_even, cosine.hi, sine.hi),
        lo: b.select(is_even, cosine.lo, sine.lo),
    };
    let quotient = b.div(over.hi, under.hi);
    let neg_quotient = b.neg(quotient);
    let rest = b.fma(neg_quotient, under.hi, over.hi);
    let rest = b.add(rest, over.lo);
    let rest = b.fma(neg_quotient, under.lo, rest);
    let correction = b.div(rest, under.hi);
    let result = b.add(quotient, correction);
    negate_by(b, result, sign)
}
