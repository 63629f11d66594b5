//! `tanh`.

use super::exp::{expm1_reduced, power_of_two};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// tanh(x).
///
/// Below `middle` it is an odd polynomial, above it 1 - 2 / (e^(2|x|) + 1).
#[inline]
pub fn tanh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::TANH;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let a2 = b.mul(a, a);
    let a3 = b.mul(a2, a);
    let small = horner(b, a2, c.poly);
    let small = b.fma(small, a3, a);

    let twice = b.add(a, a);
    let (log2_e, round) = (b.value(B::Lane::EXP.log2_e), b.value(B::Lane::EXP.round));
    let k = b.fma(twice, log2_e, round);
    let n = b.sub(k, round);
    // ln(2) to single precision is enough, because the quotient is small if n is large.
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.fma(n, neg_ln2, twice);
    let q = expm1_reduced(b, r);
    let power = power_of_two(b, k);
    let (one, two) = (b.value(B::Lane::ONE), b.value(B::Lane::TWO));
    let sum = b.add(power, one);
    let sum = b.fma(q, power, sum);
    let quotient = b.div(two, sum);
    let large = b.sub(one, quotient);

    let middle = b.value(c.middle);
    let is_small = b.lt(a, middle);
    let result = b.select(is_small, small, large);
    join_sign(b, result, sign)
}
