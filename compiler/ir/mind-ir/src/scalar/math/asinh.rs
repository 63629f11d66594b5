//! `asinh`.

use super::hyperbolic::{square_root, with_series};
use super::log::{Argument, log_of};
use super::pair::{Pair, ordered_sum, product, sum};
use super::steps::{Lane, Steps, join_sign, split_sign};

/// asinh(x).
///
/// With a = |x|, it is ln(a + sqrt(a^2 + 1)), with the sum to twice the precision. It is a series for small a, and ln(2
/// a) if 1 is negligible next to a^2.
#[inline]
pub fn asinh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::HYPERBOLIC;
    let (a, sign) = split_sign(b, x);
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let far = b.value(c.far);
    let is_far = b.lt(far, a);

    let square = product(b, a, a);
    let Pair { hi, lo } = sum(b, square.hi, one);
    let lo = b.add(lo, square.lo);
    let root = square_root(b, Pair { hi, lo });
    let Pair { hi, lo } = ordered_sum(b, root.hi, a);
    let lo = b.add(lo, root.lo);
    let correction = b.div(lo, hi);

    let argument = Argument {
        value: b.select(is_far, a, hi),
        correction: b.select(is_far, zero, correction),
        doublings: Some(b.select(is_far, one, zero)),
    };
    let large = log_of(b, argument);
    let infinity = b.value(B::Lane::INFINITY);
    let is_finite = b.lt(a, infinity);
    let large = b.select(is_finite, large, a);
    let result = with_series(b, a, c.asinh, large);
    join_sign(b, result, sign)
}
