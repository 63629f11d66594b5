//! `acos`.

use super::arc::{Reduced, from_base, reduce};
use super::pair::Pair;
use super::steps::{Lane, Steps, split_sign};

/// acos(x); NaN for |x| > 1.
///
/// For |x| <= 1/2 it is pi/2 - asin(x), else 2 asin(sqrt((1 - |x|) / 2)), subtracted from pi if x is negative.
#[inline]
pub fn acos<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let (a, _) = split_sign(b, x);
    let Reduced { is_small, root, z } = reduce(b, a);

    let zero = b.value(B::Lane::ZERO);
    let is_negative = b.lt(x, zero);
    let twice = b.add(root, root);
    let (neg_x, neg_twice) = (b.neg(x), b.neg(twice));
    let large = b.select(is_negative, neg_twice, twice);
    let argument = b.select(is_small, neg_x, large);
    let mut base = |half: B::Lane, whole: B::Lane| {
        let (half, whole) = (b.value(half), b.value(whole));
        let large = b.select(is_negative, whole, zero);
        b.select(is_small, half, large)
    };
    let base = Pair {
        hi: base(c.half_pi, c.pi),
        lo: base(c.half_pi_lo, c.pi_lo),
    };
    from_base(b, base, argument, z)
}
