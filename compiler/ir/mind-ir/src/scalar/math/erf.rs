//! `erf`.

use super::exp::{expm1_reduced, power_of_two};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// erf(x), the integral of 2/sqrt(pi) e^(-t^2) for t from 0 to x.
///
/// Below `middle` it is an odd polynomial, above it 1 - e^t, where t is a polynomial.
#[inline]
pub fn erf<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ERF;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let a2 = b.mul(a, a);
    let small = horner(b, a2, c.small);
    let small = b.fma(small, a, a);

    let t = horner(b, a, c.tail);
    let (log2_e, round) = (b.value(B::Lane::EXP.log2_e), b.value(c.round_negated));
    let k = b.fma(t, log2_e, round);
    let n = b.sub(k, round);
    // ln(2) to single precision is enough, because e^t is small if n is large.
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.fma(n, neg_ln2, t);
    let q = expm1_reduced(b, r);
    let neg_power = power_of_two(b, k);
    let one = b.value(B::Lane::ONE);
    let large = b.add(one, neg_power);
    let large = b.fma(q, neg_power, large);

    let middle = b.value(c.middle);
    let is_small = b.lt(a, middle);
    let result = b.select(is_small, small, large);
    join_sign(b, result, sign)
}
