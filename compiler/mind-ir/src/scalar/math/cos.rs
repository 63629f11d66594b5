//! `cos`.

use super::circular::{cosine_of_rest, is_even, negate_by, reduce, sign_of_quarters, sine_of_rest};
use super::steps::{Lane, Steps, split_sign};

/// cos(x), for any finite x; NaN for infinities.
///
/// The sine a quarter turn further on.
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

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{cos_f32, cos_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 1.0),
            (-0.0, 1.0),
            (f64::INFINITY, f64::NAN),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(cos_f32, cos_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x3f80_0000, 0),
            (0x3727_c5ac, 0x3f80_0000, 0),
            (0x3c23_d70a, 0x3f7f_fcb9, 0),
            (0x3dcc_cccd, 0x3f7e_b898, 0),
            (0x3f00_0000, 0x3f60_a940, 0),
            (0x3f47_ae14, 0x3f35_fe6e, 0),
            (0x3f4a_3d71, 0x3f34_2f35, 0),
            (0x3f80_0000, 0x3f0a_5140, 0),
            (0x3fc0_0000, 0x3d90_deaa, 0),
            (0x3fc9_0fdb, 0xb33b_bd2e, 0),
            (0x4040_0000, 0xbf7d_7026, 0),
            (0x4049_0fdb, 0xbf80_0000, 0),
            (0x4120_0000, 0xbf56_cd64, 0),
            (0x41b0_0000, 0xbf7f_fd6f, 0),
            (0x447a_0000, 0x3f0f_f813, 0),
            (0x43b1_8000, 0xbf80_0000, 0),
            (0x47c3_5000, 0xbf7f_d61c, 0),
            (0x4b79_be45, 0xbf7f_3269, 0),
            (0x5015_02f9, 0x3f5f_84c5, 0),
            (0x60ad_78ec, 0x3f41_1723, 0),
            (0x7f61_b1e6, 0xbef7_f57c, 0),
            (0xbe99_999a, 0x3f74_90ef, 0),
            (0xbf33_3333, 0x3f43_ccb3, 0),
            (0xbf99_999a, 0x3eb9_86f3, 0),
            (0xc0a0_0000, 0x3e91_3c2c, 0),
        ];
        check_f32(cos_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x3ff0_0000_0000_0000, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3fef_ffff_fff9_20c8, 0),
            (0x3f84_7ae1_47ae_147b, 0x3fef_ff97_24ad_97aa, 0),
            (0x3fb9_9999_9999_999a, 0x3fef_d712_f9a8_17c1, 0),
            (0x3fe0_0000_0000_0000, 0x3fec_1528_065b_7d50, 0),
            (0x3fe8_f5c2_8f5c_28f6, 0x3fe6_bfcd_bf81_7bfa, 0),
            (0x3fe9_47ae_147a_e148, 0x3fe6_85e6_9c85_69af, 0),
            (0x3ff0_0000_0000_0000, 0x3fe1_4a28_0fb5_068c, 0),
            (0x3ff8_0000_0000_0000, 0x3fb2_1bd5_4fc5_f9a7, 0),
            (0x3ff9_21fb_67ea_cae5, 0xbe73_a69d_ccb9_6762, 0),
            (0x4008_0000_0000_0000, 0xbfef_ae04_be85_e5d2, 0),
            (0x4009_21fb_5a7e_d197, 0xbfef_ffff_ffff_fff6, 0),
            (0x4024_0000_0000_0000, 0xbfea_d9ac_890c_6b1f, 0),
            (0x4036_0000_0000_0000, 0xbfef_ffad_d8d4_acda, 0),
            (0x408f_4000_0000_0000, 0x3fe1_ff02_6793_f1bb, 0),
            (0x4076_3000_0000_0000, 0xbfef_ffff_ffc1_8e4c, 0),
            (0x40f8_6a00_0000_0000, 0xbfef_fac3_841b_3da7, 0),
            (0x416f_37c8_a000_0000, 0xbfef_e64d_2c5c_db2d, 0),
            (0x4202_a05f_2000_0000, 0x3feb_f098_901c_931a, 0),
            (0x4415_af1d_78b5_8c40, 0x3fe8_7272_0fc6_0d3d, 0),
            (0x47ec_363c_bf21_f28a, 0x3fef_fdb4_0355_df0a, 0),
            (0xbfd3_3333_3333_3333, 0x3fee_921d_d42f_09ba, 0),
            (0xbfe6_6666_6666_6666, 0x3fe8_7996_529f_9d93, 0),
            (0xbff3_3333_3333_3333, 0x3fd7_30de_943b_79d4, 0),
            (0xc014_0000_0000_0000, 0x3fd2_2785_706b_4ad9, 0),
            (0x4480_f0cf_064d_d592, 0x3fe0_be2c_ef01_c8f4, 0),
            (0x7e37_e43c_8800_759c, 0xbfe2_6990_22ad_c4c1, 0),
            (0x7fee_42d1_3077_3b76, 0x3fe9_b691_3f41_bde3, 0),
            (0x7506_ac5b_262c_a1ff, 0xbc21_4ae7_2e6b_a22f, 0),
        ];
        check_f64(cos_f64, &rows);
    }
}
