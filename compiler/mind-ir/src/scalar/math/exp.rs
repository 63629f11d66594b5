//! `exp`, and the parts of it that other functions share.

use super::steps::{Lane, Steps, horner};

/// Constants of [`exp`].
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Below this the result rounds to 0.
    pub lowest: T,
    /// Above this the result rounds to infinity.
    pub highest: T,
    /// log2(e).
    pub log2_e: T,
    /// -ln(2), rounded.
    pub neg_ln2_hi: T,
    /// -ln(2) minus `neg_ln2_hi`, rounded.
    pub neg_ln2_lo: T,
    /// 1.5 * 2^MANTISSA + bias: adding it rounds to an integer and leaves that integer, biased like
    /// an exponent, in the low bits.
    pub round: T,
    /// 1.5 * 2^MANTISSA + 2 * bias, for a power of two in two factors.
    pub round_twice: T,
    /// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2.
    pub poly: &'static [T],
}

/// (e^r - 1 - r) / r^2 for |r| <= 0.3467, relative error of e^r below 2^-28.2.
pub const POLY_F32: [f32; 5] = [
    0.49999994,   // 3efffffe
    0.16666517,   // 3e2aaa46
    0.041668102,  // 3d2aac2c
    0.008369184,  // 3c091ee7
    0.0013838612, // 3ab562ad
];

/// (e^r - 1 - r) / r^2 for |r| <= 0.3467, relative error of e^r below 2^-57.8.
pub const POLY_F64: [f64; 10] = [
    0.5000000000000011,      // 3fe000000000000a
    0.16666666666666435,     // 3fc5555555555502
    0.041666666666525735,    // 3fa55555555505ff
    0.008333333333475688,    // 3f8111111112519f
    0.001388888894489057,    // 3f56c16c184b7fc0
    0.00019841269555989394,  // 3f2a01a013bba3a6
    0.000024801491703188272, // 3efa01998838b60e
    2.755753458738592e-6,    // 3ec71def7c4f335c
    2.763077508569491e-7,    // 3e928aee56f321c4
    2.5018827302081005e-8,   // 3e5add1f754274d5
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    lowest: -104.0,
    highest: 89.0,
    log2_e: std::f32::consts::LOG2_E,
    neg_ln2_hi: -std::f32::consts::LN_2,
    neg_ln2_lo: 1.904_654_3e-9,
    round: 12_582_912.0 + 127.0,
    round_twice: 12_582_912.0 + 254.0,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    lowest: -746.0,
    highest: 710.0,
    log2_e: std::f64::consts::LOG2_E,
    neg_ln2_hi: -std::f64::consts::LN_2,
    neg_ln2_lo: -2.319_046_813_846_3e-17,
    round: 6_755_399_441_055_744.0 + 1023.0,
    round_twice: 6_755_399_441_055_744.0 + 2046.0,
    poly: &POLY_F64,
};

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
