//! `atan`.

use super::arc::from_quotient;
use super::pair::Pair;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// atan(x).
///
/// On a = |x|, a constant plus the arc tangent of t with |t| <= 1/2: of a itself, of (a - 1) / (a + 1) from 1/2
/// on, and of -1 / a from 2 on.
#[inline]
pub fn atan<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let (zero, one, neg_one) = (
        b.value(B::Lane::ZERO),
        b.value(B::Lane::ONE),
        b.value(B::Lane::NEG_ONE),
    );
    let (half, two) = (b.value(B::Lane::HALF), b.value(B::Lane::TWO));
    let is_small = b.lt(a, half);
    let is_large = b.lt(two, a);
    let (less, more) = (b.sub(a, one), b.add(a, one));
    let (quarter, quarter_lo) = (b.value(c.quarter_pi), b.value(c.quarter_pi_lo));
    let (half_pi, half_pi_lo) = (b.value(c.half_pi), b.value(c.half_pi_lo));
    let mut choose = |small: B::Value, middle: B::Value, large: B::Value| {
        let rest = b.select(is_large, large, middle);
        b.select(is_small, small, rest)
    };
    let numerator = choose(a, less, neg_one);
    let denominator = choose(one, more, a);
    let base = choose(zero, quarter, half_pi);
    let base_lo = choose(zero, quarter_lo, half_pi_lo);

    let base = Pair {
        hi: base,
        lo: base_lo,
    };
    let result = from_quotient(b, base, numerator, denominator);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{atan_f32, atan_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, std::f64::consts::FRAC_PI_2),
            (f64::NEG_INFINITY, -std::f64::consts::FRAC_PI_2),
            (f64::NAN, f64::NAN),
        ];
        check_special(atan_f32, atan_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(atan_f32, atan_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d5a4, 0),
            (0x3dcc_cccd, 0x3dcc_1f14, 0),
            (0x3e80_0000, 0x3e7a_dbb0, 0),
            (0x3ee6_6666, 0x3ed8_804f, 0),
            (0x3f00_0000, 0x3eed_6338, 0),
            (0x3f02_8f5c, 0x3ef1_7798, 0),
            (0x3f40_0000, 0x3f24_bc7d, 0),
            (0x3f80_0000, 0x3f49_0fdb, 0),
            (0x3fc0_0000, 0x3f7b_985f, 0),
            (0x3ffe_b852, 0x3f8d_7540, 0),
            (0x4000_a3d7, 0x3f8d_f853, 0),
            (0x4040_0000, 0x3f9f_e0bb, 0),
            (0x4120_0000, 0x3fbc_4de9, 0),
            (0x447a_0000, 0x3fc8_ef16, 0),
            (0x5015_02f9, 0x3fc9_0fdb, 0),
            (0x7149_f2ca, 0x3fc9_0fdb, 0),
            (0xbe99_999a, 0xbe95_39d4, 0),
            (0xbf33_3333, 0xbf1c_5889, 0),
            (0xbf99_999a, 0xbf60_4557, 0),
            (0xc0a0_0000, 0xbfaf_cb99, 0),
        ];
        check_f32(atan_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e0_6854, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7ab4_8b1e_fb5d, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_83e2_82e2_cc4d, 0),
            (0x3fd0_0000_0000_0000, 0x3fcf_5b75_f92c_80dd, 0),
            (0x3fdc_cccc_cccc_cccd, 0x3fdb_1009_e9ee_79bc, 0),
            (0x3fe0_0000_0000_0000, 0x3fdd_ac67_0561_bb4f, 0),
            (0x3fe0_51eb_851e_b852, 0x3fde_2ef3_1010_33df, 0),
            (0x3fe8_0000_0000_0000, 0x3fe4_978f_a326_9ee1, 0),
            (0x3ff0_0000_0000_0000, 0x3fe9_21fb_5444_2d18, 0),
            (0x3ff8_0000_0000_0000, 0x3fef_730b_d281_f69b, 0),
            (0x3fff_d70a_3d70_a3d7, 0x3ff1_aea8_00a0_1226, 0),
            (0x4000_147a_e147_ae14, 0x3ff1_bf0a_5e32_97f5, 0),
            (0x4008_0000_0000_0000, 0x3ff3_fc17_6b7a_8560, 0),
            (0x4024_0000_0000_0000, 0x3ff7_89bd_2c16_0054, 0),
            (0x408f_4000_0000_0000, 0x3ff9_1de2_c0e6_58bd, 0),
            (0x4202_a05f_2000_0000, 0x3ff9_21fb_543d_4de0, 0),
            (0x4629_3e59_39a0_8cea, 0x3ff9_21fb_5444_2d18, 0),
            (0xbfd3_3333_3333_3333, 0xbfd2_a73a_661e_af06, 0),
            (0xbfe6_6666_6666_6666, 0xbfe3_8b11_2d7b_d4ad, 0),
            (0xbff3_3333_3333_3333, 0xbfec_08aa_e496_efa6, 0),
            (0xc014_0000_0000_0000, 0xbff5_f973_1525_4857, 0),
            (0x7e37_e43c_8800_759c, 0x3ff9_21fb_5444_2d18, 0),
        ];
        check_f64(atan_f64, &rows);
    }
}
