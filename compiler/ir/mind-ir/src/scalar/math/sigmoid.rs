//! `sigmoid`.

use super::exp::{clamp, exp_parts, factors, inverse_power};
use super::steps::{Lane, Steps};

/// 1 / (1 + e^-x).
///
/// With e^-x = first * second * (1 + q), numerator and denominator are divided by `second`, so that the denominator
/// does not overflow if the result is subnormal.
#[inline]
pub fn sigmoid<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::SIGMOID;
    let x = clamp(b, x, c.lowest, c.highest);
    let far = b.value(c.far);
    let is_far = b.lt(x, far);
    let neg_x = b.neg(x);
    let (power, q) = exp_parts(b, neg_x);
    let power = factors(b, power.k);

    let inverse = inverse_power(b, power.second);

    // first + inverse + q * first, summed in the order with the smallest error.
    let zero = b.value(B::Lane::ZERO);
    let powers = b.add(power.first, inverse);
    let inner = b.select(is_far, inverse, powers);
    let outer = b.select(is_far, power.first, zero);
    let sum = b.fma(q, power.first, inner);
    let sum = b.add(sum, outer);
    b.div(inverse, sum)
}
