//! `expm1`.

use super::exp::{ExpSum, clamp, exp_sum, inverse_power};
use super::steps::{Lane, Steps};

/// e^x - 1.
///
/// With e^x = first * second * (1 + r + p), the sum first (1 + r) - 1 / second is computed with its rounding error, so
/// that only the last addition rounds. The product with `second` is exact or overflows.
#[inline]
pub fn expm1<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::EXP;
    let limited = clamp(b, x, c.lowest, c.highest);
    let ExpSum { power, r, p } = exp_sum(b, limited);
    let inverse = inverse_power(b, power.second);
    let base = b.sub(power.first, inverse);
    let sum = b.fma(power.first, r, base);
    let rounded = b.sub(base, sum);
    let rest = b.fma(power.first, r, rounded);
    let rest = b.fma(power.first, p, rest);
    let scaled = b.add(sum, rest);
    let result = b.mul(scaled, power.second);

    let zero = b.value(B::Lane::ZERO);
    let is_zero = b.eq(x, zero);
    b.select(is_zero, x, result)
}
