//! `atan`.

use super::arc::from_quotient;
use super::pair::Pair;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// atan(x).
///
/// With a = |x|, it is a constant plus atan(t) with |t| <= 1/2: t is a for a < 1/2, -1 / a for a > 2, and (a - 1) / (a
/// + 1) in between.
#[inline]
pub fn atan<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let (zero, one, neg_one) = (
        b.value(B::Lane::ZERO),
        b.value(B::Lane::ONE),
        b.value(B::Lane::NEG_ONE),
    );
    let (half, two) = (b.value(B::Lane::HALF), b.value(B::Lane::TWO));
    let is_small = b.lt(a, half);
    let is_large = b.lt(two, a);
    let (less, more) = (b.sub(a, one), b.add(a, one));
    let (quarter, quarter_lo) = (b.value(c.quarter_pi), b.value(c.quarter_pi_lo));
    let (half_pi, half_pi_lo) = (b.value(c.half_pi), b.value(c.half_pi_lo));
    let mut choose = |small: B::Value, middle: B::Value, large: B::Value| {
        let rest = b.select(is_large, large, middle);
        b.select(is_small, small, rest)
    };
    let numerator = choose(a, less, neg_one);
    let denominator = choose(one, more, a);
    let base = choose(zero, quarter, half_pi);
    let base_lo = choose(zero, quarter_lo, half_pi_lo);

    let base = Pair {
        hi: base,
        lo: base_lo,
    };
    let result = from_quotient(b, base, numerator, denominator);
    join_sign(b, result, sign)
}
