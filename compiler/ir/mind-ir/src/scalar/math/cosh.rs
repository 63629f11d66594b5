//! `cosh`.

use super::hyperbolic::exponentials;
use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, split_sign};

/// cosh(x) = (e^x + e^-x) / 2.
#[inline]
pub fn cosh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, _) = split_sign(b, x);
    let highest = b.value(B::Lane::HYPERBOLIC.highest);
    let a = b.min(highest, a);
    let e = exponentials(b, a);

    let Pair { hi, lo } = ordered_sum(b, e.growing.hi, e.falling.hi);
    let rest = b.add(e.growing.lo, e.falling.lo);
    let rest = b.add(rest, lo);
    let sum = b.add(hi, rest);
    let half = b.value(B::Lane::HALF);
    let halved = b.mul(sum, half);
    b.mul(halved, e.scale)
}
