//! `exp`, and parts that other functions share.

use super::steps::{Lane, Steps, horner};

/// e^x.
///
/// With x = n ln(2) + r, the result is 2^n (1 + (e^r - 1)).
#[inline]
pub fn exp<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::EXP;
    let x = clamp(b, x, c.lowest, c.highest);
    let (power, q) = exp_parts(b, x);
    b.scale_sum(q, power.k)
}

/// Clamps `x` to `lowest..=highest`; NaN stays NaN.
#[inline]
pub(super) fn clamp<B: Steps>(
    b: &mut B,
    x: B::Value,
    lowest: B::Lane,
    highest: B::Lane,
) -> B::Value {
    let (lowest, highest) = (b.value(lowest), b.value(highest));
    let x = b.max(lowest, x);
    b.min(highest, x)
}

/// 2^n for an integer n.
pub(super) struct PowerOfTwo<V> {
    /// n.
    pub n: V,
    /// n + `round_twice`.
    pub k: V,
}

/// 2^n as a product of two factors, which are normal for |n| up to twice the largest exponent.
pub(super) struct Factors<V> {
    /// 2^floor(n/2).
    pub first: V,
    /// 2^ceil(n/2).
    pub second: V,
}

/// Returns 2^n and q such that e^x = 2^n (1 + q) and |q| < 0.42.
#[inline]
pub(super) fn exp_parts<B: Steps>(b: &mut B, x: B::Value) -> (PowerOfTwo<B::Value>, B::Value) {
    let c = B::Lane::EXP;
    let power = nearest_power(b, x);
    let (hi, lo) = (b.value(c.neg_ln2_hi), b.value(c.neg_ln2_lo));
    let r = b.fma(power.n, hi, x);
    let r = b.fma(power.n, lo, r);
    let q = expm1_reduced(b, r);
    (power, q)
}

/// Returns the power of two with the ratio to e^x that is nearest to 1.
#[inline]
pub(super) fn nearest_power<B: Steps>(b: &mut B, x: B::Value) -> PowerOfTwo<B::Value> {
    let c = B::Lane::EXP;
    let (log2_e, round) = (b.value(c.log2_e), b.value(c.round_twice));
    let k = b.fma(x, log2_e, round);
    power_from(b, k)
}

/// Returns 2^n for `k`, the sum of an integer n and `round_twice`.
#[inline]
pub(super) fn power_from<B: Steps>(b: &mut B, k: B::Value) -> PowerOfTwo<B::Value> {
    let round = b.value(B::Lane::EXP.round_twice);
    let n = b.sub(k, round);
    PowerOfTwo { n, k }
}

/// Returns the factors of 2^n for `k`, the sum of an integer n and `round_twice`.
#[inline]
pub(super) fn factors<B: Steps>(b: &mut B, k: B::Value) -> Factors<B::Value> {
    // The low bits of k are n + 2 bias, so each half of them is a biased exponent. The left shifts drop all other bits.
    let k = b.bits(k);
    let floor = b.shr(k, 1);
    let ceil = b.isub(k, floor);
    let first = b.shl(floor, B::Lane::MANTISSA);
    let second = b.shl(ceil, B::Lane::MANTISSA);
    Factors {
        first: b.float(first),
        second: b.float(second),
    }
}

/// Returns 1 / `power`, where `power` is a power of two with a normal inverse.
#[inline]
pub(super) fn inverse_power<B: Steps>(b: &mut B, power: B::Value) -> B::Value {
    let twice_bias = b.int(B::Lane::EXP.twice_bias);
    let power = b.bits(power);
    let inverse = b.isub(twice_bias, power);
    b.float(inverse)
}

/// e^x as 2^n (1 + r + p), where |r| <= ln(2)/2 and |p| < r^2.
pub(super) struct ExpSum<V> {
    pub power: Factors<V>,
    pub r: V,
    pub p: V,
}

/// Returns e^x as a sum; p includes the rounding error of the reduction.
#[inline]
pub(super) fn exp_sum<B: Steps>(b: &mut B, x: B::Value) -> ExpSum<B::Value> {
    let c = B::Lane::EXP;
    let power = nearest_power(b, x);
    let (hi, lo) = (b.value(c.neg_ln2_hi), b.value(c.neg_ln2_lo));
    let t = b.fma(power.n, hi, x);
    let r = b.fma(power.n, lo, t);
    let rounded = b.sub(t, r);
    let r_lo = b.fma(power.n, lo, rounded);
    let w = horner(b, r, c.poly);
    let r2 = b.mul(r, r);
    let p = b.fma(r2, w, r_lo);
    let power = factors(b, power.k);
    ExpSum { power, r, p }
}

/// Returns 2^n for `k`, the sum of an integer n and `round`.
#[inline]
pub(super) fn power_of_two<B: Steps>(b: &mut B, k: B::Value) -> B::Value {
    let k = b.bits(k);
    let power = b.shl(k, B::Lane::MANTISSA);
    b.float(power)
}

/// Returns e^r - 1 for |r| <= ln(2)/2.
#[inline]
pub(super) fn expm1_reduced<B: Steps>(b: &mut B, r: B::Value) -> B::Value {
    let w = horner(b, r, B::Lane::EXP.poly);
    let r2 = b.mul(r, r);
    b.fma(r2, w, r)
}

#[cfg(test)]
mod tests {
    use super::super::exp_f32;

    #[test]
    fn range_ends_where_the_result_does() {
        let (largest, smallest) = (f32::from_bits(0x42b1_7217), f32::from_bits(0xc2cf_f1b4));
        assert!(exp_f32(largest).is_finite());
        assert_eq!(exp_f32(largest.next_up()), f32::INFINITY);
        assert_eq!(exp_f32(smallest), f32::from_bits(1));
        assert_eq!(exp_f32(smallest.next_down()), 0.0);
    }

    #[test]
    fn never_decreases_in_f32() {
        // Adjacent numbers around the points where the exponent changes, and around 0.
        let centres = (-300..=256).map(|n| n as f32 * 0.5 * std::f32::consts::LN_2);
        for centre in centres {
            let mut x = centre;
            for _ in 0..64 {
                let above = x.next_up();
                assert!(exp_f32(x) <= exp_f32(above), "exp decreases after {x:e}");
                x = above;
            }
        }
    }
}
