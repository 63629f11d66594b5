//! `acosh`.

use super::hyperbolic::square_root;
use super::log::{Argument, log_of};
use super::pair::{Pair, ordered_sum, product};
use super::steps::{Lane, Steps};

/// acosh(x); NaN below 1.
///
/// ln(x + sqrt(x^2 - 1)), with the sum to twice the precision; ln(2 x) if 1 is negligible next to x^2.
#[inline]
pub fn acosh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let far = b.value(B::Lane::HYPERBOLIC.far);
    let is_far = b.lt(far, x);

    let neg_one = b.value(B::Lane::NEG_ONE);
    let square = product(b, x, x);
    let Pair { hi, lo } = ordered_sum(b, square.hi, neg_one);
    let lo = b.add(lo, square.lo);
    let root = square_root(b, Pair { hi, lo });
    let Pair { hi, lo } = ordered_sum(b, x, root.hi);
    let lo = b.add(lo, root.lo);
    let correction = b.div(lo, hi);

    let argument = Argument {
        value: b.select(is_far, x, hi),
        correction: b.select(is_far, zero, correction),
        doublings: Some(b.select(is_far, one, zero)),
    };
    let finite = log_of(b, argument);
    let (infinity, nan) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NAN));
    let is_finite = b.lt(x, infinity);
    let is_below = b.lt(x, one);
    let result = b.select(is_finite, finite, x);
    b.select(is_below, nan, result)
}
