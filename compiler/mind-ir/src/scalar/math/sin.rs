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

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{sin_f32, sin_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, f64::NAN),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(sin_f32, sin_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(sin_f32, sin_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d657, 0),
            (0x3dcc_cccd, 0x3dcc_7577, 0),
            (0x3f00_0000, 0x3ef5_7744, 0),
            (0x3f47_ae14, 0x3f34_0a1e, 0),
            (0x3f4a_3d71, 0x3f35_d9b7, 0),
            (0x3f80_0000, 0x3f57_6aa4, 0),
            (0x3fc0_0000, 0x3f7f_5bd5, 0),
            (0x3fc9_0fdb, 0x3f80_0000, 0),
            (0x4040_0000, 0x3e10_81c3, 0),
            (0x4049_0fdb, 0xb3bb_bd2e, 0),
            (0x4120_0000, 0xbf0b_44f8, 0),
            (0x41b0_0000, 0xbc11_0515, 0),
            (0x447a_0000, 0x3f53_ae61, 0),
            (0x43b1_8000, 0xb7fc_de82, 0),
            (0x47c3_5000, 0x3d12_6d55, 0),
            (0x4b79_be45, 0x3da2_17b9, 0),
            (0x5015_02f9, 0xbef9_9a64, 0),
            (0x60ad_78ec, 0x3f28_1569, 0),
            (0x7f61_b1e6, 0x3f5f_f9c4, 0),
            (0xbe99_999a, 0xbe97_4e6d, 0),
            (0xbf33_3333, 0xbf24_eb73, 0),
            (0xbf99_999a, 0xbf6e_9a1d, 0),
            (0xc0a0_0000, 0x3f75_7c10, 0),
        ];
        check_f32(sin_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e1_e8a2, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7aca_e915_e807, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_8eae_cb8b_cb2c, 0),
            (0x3fe0_0000_0000_0000, 0x3fde_aee8_744b_05f0, 0),
            (0x3fe8_f5c2_8f5c_28f6, 0x3fe6_8143_d72d_4ce4, 0),
            (0x3fe9_47ae_147a_e148, 0x3fe6_bb36_c934_7c8e, 0),
            (0x3ff0_0000_0000_0000, 0x3fea_ed54_8f09_0cee, 0),
            (0x3ff8_0000_0000_0000, 0x3fef_eb7a_9b2c_6d8b, 0),
            (0x3ff9_21fb_67ea_cae5, 0x3fef_ffff_ffff_ffe8, 0),
            (0x4008_0000_0000_0000, 0x3fc2_1038_6db6_d55b, 0),
            (0x4009_21fb_5a7e_d197, 0xbe68_ea91_fae5_9d9a, 0),
            (0x4024_0000_0000_0000, 0xbfe1_689e_f5f3_4f52, 0),
            (0x4036_0000_0000_0000, 0xbf82_20a2_9f6e_b9f4, 0),
            (0x408f_4000_0000_0000, 0x3fea_75cc_150a_206b, 0),
            (0x4076_3000_0000_0000, 0xbeff_9bd0_307d_1de3, 0),
            (0x40f8_6a00_0000_0000, 0x3fa2_4daa_9c52_7e96, 0),
            (0x416f_37c8_a000_0000, 0x3fb4_42f7_151e_39fa, 0),
            (0x4202_a05f_2000_0000, 0xbfdf_334c_7896_a4e3, 0),
            (0x4415_af1d_78b5_8c40, 0xbfe4_a5e6_05fd_6450, 0),
            (0x47ec_363c_bf21_f28a, 0xbf98_3f2a_8b78_2f80, 0),
            (0xbfd3_3333_3333_3333, 0xbfd2_e9cd_95ba_ba33, 0),
            (0xbfe6_6666_6666_6666, 0xbfe4_9d6e_6946_19b8, 0),
            (0xbff3_3333_3333_3333, 0xbfed_d343_a21a_55c4, 0),
            (0xc014_0000_0000_0000, 0x3fee_af81_f5e0_9933, 0),
            (0x4480_f0cf_064d_d592, 0xbfeb_453a_b76b_f397, 0),
            (0x7e37_e43c_8800_759c, 0xbfea_2c16_b010_e385, 0),
            (0x7fee_42d1_3077_3b76, 0xbfe3_0c56_7d27_7075, 0),
            (0x7506_ac5b_262c_a1ff, 0x3ff0_0000_0000_0000, 0),
        ];
        check_f64(sin_f64, &rows);
    }
}
