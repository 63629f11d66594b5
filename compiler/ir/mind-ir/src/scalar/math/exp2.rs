//! `exp2`.

use super::exp::{clamp, expm1_reduced, power_from};
use super::steps::{Lane, Steps};

/// 2^x.
///
/// With x = n + r and |r| <= 1/2, the result is 2^n (1 + (e^(r ln 2) - 1)), scaled as in `exp`. Powers of two are
/// exact.
#[inline]
pub fn exp2<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::EXP2;
    let x = clamp(b, x, c.lowest, c.highest);
    let round = b.value(B::Lane::EXP.round_twice);
    let k = b.add(x, round);
    let power = power_from(b, k);
    let neg_r = b.sub(power.n, x);
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.mul(neg_r, neg_ln2);
    let q = expm1_reduced(b, r);
    b.scale_sum(q, power.k)
}
