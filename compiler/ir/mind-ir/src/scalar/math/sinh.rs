//! `sinh`.

use super::hyperbolic::{exponentials, with_series};
use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, join_sign, split_sign};

/// sinh(x).
///
/// (e^x - e^-x) / 2; a series for small x, where the exponentials nearly cancel.
#[inline]
pub fn sinh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::HYPERBOLIC;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);
    let e = exponentials(b, a);

    let neg_falling = b.neg(e.falling.hi);
    let Pair { hi, lo } = ordered_sum(b, e.growing.hi, neg_falling);
    let rest = b.sub(e.growing.lo, e.falling.lo);
    let rest = b.add(rest, lo);
    let difference = b.add(hi, rest);
    let half = b.value(B::Lane::HALF);
    let halved = b.mul(difference, half);
    let large = b.mul(halved, e.scale);

    let result = with_series(b, a, c.sinh, large);
    join_sign(b, result, sign)
}
