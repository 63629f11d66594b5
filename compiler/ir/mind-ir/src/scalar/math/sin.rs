//! `sin`.

use super::circular::{cosine_of_rest, is_even, negate_by, reduce, sign_of_quarters, sine_of_rest};
use super::steps::{Steps, split_sign};

/// sin(x), for any finite x; NaN for infinities.
#[inline]
pub fn sin<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, sign) = split_sign(b, x);
    let turned = reduce(b, a);
    let sine = sine_of_rest(b, &turned.rest);
    let cosine = cosine_of_rest(b, &turned.rest);
    let is_even = is_even(b, turned.quarters);
    let result = b.select(is_even, sine.hi, cosine.hi);
    let turned_sign = sign_of_quarters(b, turned.quarters);
    let sign = b.iadd(sign, turned_sign);
    negate_by(b, result, sign)
}
