//! `exp2`.

use super::exp::{clamp, expm1_reduced, two_factors};
use super::steps::{Lane, Steps};

/// 2^x.
///
/// With x = n + r and |r| <= 1/2, the result is 2^n (1 + (e^(r ln 2) - 1)), scaled as that of `exp`. A power
/// of two is exact.
#[inline]
pub fn exp2<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::EXP2;
    let x = clamp(b, x, c.lowest, c.highest);
    let round = b.value(B::Lane::EXP.round_twice);
    let k = b.add(x, round);
    let power = two_factors(b, k);
    let neg_r = b.sub(power.n, x);
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.mul(neg_r, neg_ln2);
    let q = expm1_reduced(b, r);
    let scaled = b.fma(q, power.first, power.first);
    b.mul(scaled, power.second)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{exp2_f32, exp2_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 1.0),
            (-0.0, 1.0),
            (1.0, 2.0),
            (-3.0, 0.125),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, 0.0),
            (1025.0, f64::INFINITY),
            (-1100.0, 0.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(exp2_f32, exp2_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x3727_c5ac, 0x3f80_003a, 0),
            (0x3dcc_cccd, 0x3f89_2fdf, 0),
            (0x3e80_0000, 0x3f98_37f0, 0),
            (0x3f00_0000, 0x3fb5_04f3, 0),
            (0x3f40_0000, 0x3fd7_44fd, 0),
            (0x3fc0_0000, 0x4035_04f3, 0),
            (0x4053_3333, 0x411d_9624, 0),
            (0x4123_3333, 0x4493_088b, 0),
            (0x42c9_6666, 0x71cf_efa9, 0),
            (0x42ff_cccd, 0x7f6e_db51, 0),
            (0xb727_c5ac, 0x3f7f_ff8c, 0),
            (0xbdcc_cccd, 0x3f6e_db40, 0),
            (0xbeb3_3333, 0x3f48_da81, 0),
            (0xbf00_0000, 0x3f35_04f3, 0),
            (0xbfc0_0000, 0x3eb5_04f3, 0),
            (0xc123_3333, 0x3a5e_dc69, 0),
            (0xc249_3333, 0x264f_efcd, 0),
            (0xc2fd_0000, 0x005a_827a, 0),
            (0xc302_b333, 0x0004_ecb2, 0),
            (0xc314_e666, 0x0000_0001, 0),
        ];
        check_f32(exp2_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x3ee4_f8b5_88e3_68f1, 0x3ff0_0007_44a8_c42d, 0),
            (0x3fb9_9999_9999_999a, 0x3ff1_25fb_ee25_0664, 0),
            (0x3fd0_0000_0000_0000, 0x3ff3_06fe_0a31_b715, 0),
            (0x3fe0_0000_0000_0000, 0x3ff6_a09e_667f_3bcd, -1),
            (0x3fe8_0000_0000_0000, 0x3ffa_e89f_995a_d3ad, 1),
            (0x3ff8_0000_0000_0000, 0x4006_a09e_667f_3bcd, -1),
            (0x400a_6666_6666_6666, 0x4023_b2c4_7bff_8328, 0),
            (0x4024_6666_6666_6666, 0x4092_6111_86ba_e672, 0),
            (0x4059_2ccc_cccc_cccd, 0x4639_fdf8_bcce_534c, 0),
            (0x405f_f999_9999_999a, 0x47ed_db68_0117_ab33, 0),
            (0xbee4_f8b5_88e3_68f1, 0x3fef_fff1_76b5_1217, 0),
            (0xbfb9_9999_9999_999a, 0x3fed_db68_0117_ab12, 0),
            (0xbfd6_6666_6666_6666, 0x3fe9_1b50_1c2d_b3df, 0),
            (0xbfe0_0000_0000_0000, 0x3fe6_a09e_667f_3bcd, -1),
            (0xbff8_0000_0000_0000, 0x3fd6_a09e_667f_3bcd, -1),
            (0xc024_6666_6666_6666, 0x3f4b_db8c_dadb_e124, 0),
            (0xc049_2666_6666_6666, 0x3cc9_fdf8_bcce_534c, 0),
            (0xc05f_a000_0000_0000, 0x3806_a09e_667f_3bcd, -1),
            (0xc060_5666_6666_6666, 0x37c3_b2c4_7bff_8355, 0),
            (0xc062_9ccc_cccc_cccd, 0x36a1_25fb_ee25_0651, 0),
            (0x408f_4266_6666_6666, 0x7e73_b2c4_7bff_827a, 0),
            (0xc08f_f400_0000_0000, 0x000b_504f_333f_9de6, 0),
            (0xc090_4066_6666_6666, 0x0000_0003_bb6d_0023, 0),
            (0xc090_c799_9999_999a, 0x0000_0000_0000_0001, 0),
        ];
        check_f64(exp2_f64, &rows);
    }
}
