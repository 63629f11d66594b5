//! `tan`.

use super::circular::{cosine_of_rest, is_even, negate_by, reduce, sine_of_rest};
use super::pair::Pair;
use super::steps::{Steps, split_sign};

/// tan(x), for any finite x; NaN for infinities.
///
/// The quotient of the sine and the cosine, or less its inverse, with what both round off.
#[inline]
pub fn tan<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, sign) = split_sign(b, x);
    let turned = reduce(b, a);
    let sine = sine_of_rest(b, &turned.rest);
    let cosine = cosine_of_rest(b, &turned.rest);
    let is_even = is_even(b, turned.quarters);
    let (neg_hi, neg_lo) = (b.neg(cosine.hi), b.neg(cosine.lo));
    let over = Pair {
        hi: b.select(is_even, sine.hi, neg_hi),
        lo: b.select(is_even, sine.lo, neg_lo),
    };
    let under = Pair {
        hi: b.select(is_even, cosine.hi, sine.hi),
        lo: b.select(is_even, cosine.lo, sine.lo),
    };
    let quotient = b.div(over.hi, under.hi);
    let neg_quotient = b.neg(quotient);
    let rest = b.fma(neg_quotient, under.hi, over.hi);
    let rest = b.add(rest, over.lo);
    let rest = b.fma(neg_quotient, under.lo, rest);
    let correction = b.div(rest, under.hi);
    let result = b.add(quotient, correction);
    negate_by(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{tan_f32, tan_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, f64::NAN),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(tan_f32, tan_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(tan_f32, tan_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d870, 0),
            (0x3dcc_cccd, 0x3dcd_7c44, 0),
            (0x3f00_0000, 0x3f0b_da7b, 0),
            (0x3f47_ae14, 0x3f7d_403e, 0),
            (0x3f4a_3d71, 0x3f81_2efc, 0),
            (0x3f80_0000, 0x3fc7_5923, 0),
            (0x3fc0_0000, 0x4161_9f6b, 0),
            (0x3fc9_0fdb, 0xcbae_8a4a, 0),
            (0x4040_0000, 0xbe11_f7b9, 0),
            (0x4049_0fdb, 0x33bb_bd2e, 0),
            (0x4120_0000, 0x3f25_fafa, 0),
            (0x41b0_0000, 0x3c11_0689, 0),
            (0x447a_0000, 0x3fbc_3395, 0),
            (0x43b1_8000, 0x37fc_de82, 0),
            (0x47c3_5000, 0xbd12_854f, 0),
            (0x4b79_be45, 0xbda2_9a4e, 0),
            (0x5015_02f9, 0xbf0e_f000, 0),
            (0x60ad_78ec, 0x3f5e_d890, 0),
            (0x7f61_b1e6, 0xbfe7_3d2d, 0),
            (0xbe99_999a, 0xbe9e_6153, 0),
            (0xbf33_3333, 0xbf57_a036, 0),
            (0xbf99_999a, 0xc024_9e23, 0),
            (0xc0a0_0000, 0x4058_5a5c, 0),
        ];
        check_f32(tan_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e6_698e, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7b0e_0562_5f97, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_af88_7743_0b80, 0),
            (0x3fe0_0000_0000_0000, 0x3fe1_7b4f_5bf3_474a, 0),
            (0x3fe8_f5c2_8f5c_28f6, 0x3fef_a807_cf82_6c45, 0),
            (0x3fe9_47ae_147a_e148, 0x3ff0_25df_6fa3_69bf, 0),
            (0x3ff0_0000_0000_0000, 0x3ff8_eb24_5cbe_e3a6, 0),
            (0x3ff8_0000_0000_0000, 0x402c_33ed_50b8_8777, 0),
            (0x3ff9_21fb_67ea_cae5, 0xc16a_0e0b_3990_8b69, 0),
            (0x4008_0000_0000_0000, 0xbfc2_3ef7_1254_b86f, 0),
            (0x4009_21fb_5a7e_d197, 0x3e68_ea91_fae5_9da2, 0),
            (0x4024_0000_0000_0000, 0x3fe4_bf5f_34be_3782, 0),
            (0x4036_0000_0000_0000, 0x3f82_20d1_29b7_3ef8, 0),
            (0x408f_4000_0000_0000, 0x3ff7_8672_9f34_311a, 0),
            (0x4076_3000_0000_0000, 0x3eff_9bd0_30ba_cc16, 0),
            (0x40f8_6a00_0000_0000, 0xbfa2_50a9_d503_313d, 0),
            (0x416f_37c8_a000_0000, 0xbfb4_5349_bc70_67d2, 0),
            (0x4202_a05f_2000_0000, 0xbfe1_de00_0f44_3f50, 0),
            (0x4415_af1d_78b5_8c40, 0xbfeb_06fb_be99_5394, 0),
            (0x47ec_363c_bf21_f28a, 0xbf98_40e8_319b_93d2, 0),
            (0xbfd3_3333_3333_3333, 0xbfd3_cc2a_44e2_9998, -1),
            (0xbfe6_6666_6666_6666, 0xbfea_f406_c2fc_78ae, 0),
            (0xbff3_3333_3333_3333, 0xc004_93c4_3acb_164d, 0),
            (0xc014_0000_0000_0000, 0x400b_0b4b_739b_bb07, 0),
            (0x4480_f0cf_064d_d592, 0xbffa_0f79_c1b6_b257, 0),
            (0x7e37_e43c_8800_759c, 0x3ff6_be41_1f37_ac77, 0),
            (0x7fee_42d1_3077_3b76, 0xbfe7_b499_42eb_a88b, 0),
            (0x7506_ac5b_262c_a1ff, 0xc3bd_9ba9_a797_5636, 0),
        ];
        check_f64(tan_f64, &rows);
    }
}
