//! `exp`, and the parts of it that other functions share.

use super::steps::{Lane, Steps, horner};

/// e^x.
///
/// With x = n ln(2) + r, the result is 2^n (1 + (e^r - 1)), scaled in two steps so that only the
/// last one overflows or rounds to a subnormal number.
#[inline]
pub fn exp<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::EXP;
    let x = clamp(b, x, c.lowest, c.highest);
    let (power, q) = exp_parts(b, x);
    let scaled = b.fma(q, power.first, power.first);
    b.mul(scaled, power.second)
}

/// `x` limited to `lowest..=highest`; NaN stays NaN.
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

/// 2^n in two factors, both normal for |n| up to twice the exponents of normal numbers.
pub(super) struct PowerOfTwo<V> {
    /// n.
    pub n: V,
    /// 2^floor(n/2).
    pub first: V,
    /// 2^ceil(n/2).
    pub second: V,
}

/// 2^n and q with e^x = 2^n (1 + q) and |q| < 0.42.
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

/// The power of two that is nearest to e^x in ratio.
#[inline]
pub(super) fn nearest_power<B: Steps>(b: &mut B, x: B::Value) -> PowerOfTwo<B::Value> {
    let c = B::Lane::EXP;
    let (log2_e, round) = (b.value(c.log2_e), b.value(c.round_twice));
    let k = b.fma(x, log2_e, round);
    two_factors(b, k)
}

/// 2^n from `k`, the sum of an integer n and `round_twice`.
#[inline]
pub(super) fn two_factors<B: Steps>(b: &mut B, k: B::Value) -> PowerOfTwo<B::Value> {
    let round = b.value(B::Lane::EXP.round_twice);
    let n = b.sub(k, round);
    // The low bits of k hold n + 2 bias, so those of its halves hold a biased exponent each; the
    // left shifts drop all other bits.
    let k = b.bits(k);
    let floor = b.shr(k, 1);
    let ceil = b.isub(k, floor);
    let first = b.shl(floor, B::Lane::MANTISSA);
    let second = b.shl(ceil, B::Lane::MANTISSA);
    PowerOfTwo {
        n,
        first: b.float(first),
        second: b.float(second),
    }
}

/// 1 / `power`, a power of two whose inverse is normal.
#[inline]
pub(super) fn inverse_power<B: Steps>(b: &mut B, power: B::Value) -> B::Value {
    let twice_bias = b.int(B::Lane::EXP.twice_bias);
    let power = b.bits(power);
    let inverse = b.isub(twice_bias, power);
    b.float(inverse)
}

/// e^x as 2^n (1 + r + p), where |r| <= ln(2)/2 and p is less than r^2.
pub(super) struct ExpSum<V> {
    pub power: PowerOfTwo<V>,
    pub r: V,
    pub p: V,
}

/// e^x, with what the reduction rounds off in p.
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
    ExpSum { power, r, p }
}

/// 2^n from `k`, the sum of an integer n and `round`.
#[inline]
pub(super) fn power_of_two<B: Steps>(b: &mut B, k: B::Value) -> B::Value {
    let k = b.bits(k);
    let power = b.shl(k, B::Lane::MANTISSA);
    b.float(power)
}

/// e^r - 1 for |r| <= ln(2)/2.
#[inline]
pub(super) fn expm1_reduced<B: Steps>(b: &mut B, r: B::Value) -> B::Value {
    let w = horner(b, r, B::Lane::EXP.poly);
    let r2 = b.mul(r, r);
    b.fma(r2, w, r)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{exp_f32, exp_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 1.0),
            (-0.0, 1.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, 0.0),
            (f64::NAN, f64::NAN),
            (1e3, f64::INFINITY),
            (-1e3, 0.0),
        ];
        check_special(exp_f32, exp_f64, &rows);
    }

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
        // Neighbours around the points where the exponent changes, and around 0.
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

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0x3f80_0000, 0),
            (0x3727_c5ac, 0x3f80_0054, 0),
            (0x3dcc_cccd, 0x3f8d_763e, 0),
            (0x3e80_0000, 0x3fa4_5af2, 0),
            (0x3f00_0000, 0x3fd3_094c, 0),
            (0x3f40_0000, 0x4007_7cee, 0),
            (0x3f66_6666, 0x401d_6a23, 0),
            (0x3f80_0000, 0x402d_f854, 0),
            (0x3fc0_0000, 0x408f_69ff, 0),
            (0x4000_0000, 0x40ec_7326, 0),
            (0x4040_0000, 0x41a0_af2e, 0),
            (0x4090_0000, 0x42b4_08c5, 0),
            (0x4120_0000, 0x46ac_14ee, 0),
            (0x4205_3333, 0x5783_c1fa, 0),
            (0x42b0_0000, 0x7ef8_82b7, 0),
            (0x42b1_71aa, 0x7f7f_c90a, 0),
            (0xb727_c5ac, 0x3f7f_ff58, 0),
            (0xbdcc_cccd, 0x3f67_a36d, 0),
            (0xbeb3_3333, 0x3f34_6670, 0),
            (0xbf80_0000, 0x3ebc_5ab2, 0),
            (0xc120_0000, 0x383e_6bce, 0),
            (0xc248_0000, 0x1b69_2beb, 0),
            (0xc2ae_0000, 0x00b3_3687, 0),
            (0xc2b0_0000, 0x0041_edc4, 0),
            (0xc2bf_0000, 0x0000_0956, 0),
            (0xc2ce_6666, 0x0000_0001, 0),
        ];
        check_f32(exp_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_1268_8b70_e62b, 0x3ff0_0000_0000_0000, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ff0_000a_7c5e_340e, 0),
            (0x3fb9_9999_9999_999a, 0x3ff1_aec7_b35a_00d4, 0),
            (0x3fd0_0000_0000_0000, 0x3ff4_8b5e_3c3e_8186, 0),
            (0x3fe0_0000_0000_0000, 0x3ffa_6129_8e1e_069c, 0),
            (0x3fe8_0000_0000_0000, 0x4000_ef9d_b467_dcf8, 0),
            (0x3fec_cccc_cccc_cccd, 0x4003_ad44_655c_78bc, 0),
            (0x3ff0_0000_0000_0000, 0x4005_bf0a_8b14_5769, 1),
            (0x3ff8_0000_0000_0000, 0x4011_ed3f_e64f_c541, 0),
            (0x4000_0000_0000_0000, 0x401d_8e64_b8d4_ddae, 0),
            (0x4008_0000_0000_0000, 0x4034_15e5_bf6f_b106, 0),
            (0x4012_0000_0000_0000, 0x4056_8118_ade1_deaa, 0),
            (0x4024_0000_0000_0000, 0x40d5_829d_cf95_0560, 0),
            (0x4040_a666_6666_6666, 0x42f0_7840_1f5a_3ec8, 0),
            (0x407f_4000_0000_0000, 0x6d04_5ba2_a9f7_e439, 0),
            (0x4086_2e3d_70a3_d70a, 0x7fef_e9ce_5c4c_52b4, 0),
            (0xbee4_f8b5_88e3_68f1, 0x3fef_ffeb_0751_5653, 0),
            (0xbfb9_9999_9999_999a, 0x3fec_f46d_99d5_2b3a, 0),
            (0xbfd6_6666_6666_6666, 0x3fe6_8cce_0967_1f71, 0),
            (0xbff0_0000_0000_0000, 0x3fd7_8b56_362c_ef38, 0),
            (0xc024_0000_0000_0000, 0x3f07_cd79_b564_7c9b, -1),
            (0xc07f_4000_0000_0000, 0x12d9_265e_78d4_438d, 0),
            (0xc086_2000_0000_0000, 0x0017_c8ab_2288_c9ab, 1),
            (0xc086_2800_0000_0000, 0x0008_bfe5_5de0_2338, 0),
            (0xc086_d400_0000_0000, 0x0000_0000_0011_486c, 0),
            (0xc087_4333_3333_3333, 0x0000_0000_0000_0001, 0),
        ];
        check_f64(exp_f64, &rows);
    }
}
