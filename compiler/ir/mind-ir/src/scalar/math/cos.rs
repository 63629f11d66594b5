//! `cos`.

use super::circular::{cosine_of_rest, is_even, negate_by, reduce, sign_of_quarters, sine_of_rest};
use super::steps::{Lane, Steps, split_sign};

/// cos(x), for any finite x; NaN for infinities.
///
/// Computed as the sine of the angle plus a quarter turn.
#[inline]
pub fn cos<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, _) = split_sign(b, x);
    let turned = reduce(b, a);
    let sine = sine_of_rest(b, &turned.rest);
    let cosine = cosine_of_rest(b, &turned.rest);
    let is_even = is_even(b, turned.quarters);
    let result = b.select(is_even, cosine.hi, sine.hi);
    let one = b.value(B::Lane::ONE);
    let quarters = b.add(turned.quarters, one);
    let sign = sign_of_quarters(b, quarters);
    negate_by(b, result, sign)
}
