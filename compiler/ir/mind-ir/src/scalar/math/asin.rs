//! `asin`.

use super::arc::{Reduced, from_base, reduce};
use super::pair::Pair;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// asin(x); NaN for |x| > 1.
///
/// With a = |x|, it is a + a^3 P(a^2) for a < 1/2, else pi/2 - 2 asin(sqrt((1 - a) / 2)).
#[inline]
pub fn asin<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let (a, sign) = split_sign(b, x);
    let Reduced { is_small, root, z } = reduce(b, a);

    let (zero, neg_two) = (b.value(B::Lane::ZERO), b.value(B::Lane::NEG_TWO));
    let neg_twice = b.mul(root, neg_two);
    let argument = b.select(is_small, a, neg_twice);
    let (half_pi, half_pi_lo) = (b.value(c.half_pi), b.value(c.half_pi_lo));
    let base = Pair {
        hi: b.select(is_small, zero, half_pi),
        lo: b.select(is_small, zero, half_pi_lo),
    };
    let result = from_base(b, base, argument, z);
    join_sign(b, result, sign)
}
