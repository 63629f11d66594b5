//! `atanh`.

use super::hyperbolic::with_series;
use super::log::{Argument, log_of};
use super::pair::ordered_sum;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// atanh(x); infinite at -1 and 1, NaN beyond.
///
/// On a = |x|, half of ln((1 + a) / (1 - a)), with what the quotient rounds off as a correction; a series
/// where the result is close to a.
#[inline]
pub fn atanh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, sign) = split_sign(b, x);
    let one = b.value(B::Lane::ONE);
    let neg_a = b.neg(a);
    let above = ordered_sum(b, one, a);
    let below = ordered_sum(b, one, neg_a);
    let quotient = b.div(above.hi, below.hi);
    let neg_quotient = b.neg(quotient);
    let rest = b.fma(neg_quotient, below.hi, above.hi);
    let rest = b.add(rest, above.lo);
    let rest = b.fma(neg_quotient, below.lo, rest);
    let correction = b.div(rest, above.hi);
    let argument = Argument {
        value: quotient,
        correction,
        doublings: None,
    };
    let log = log_of(b, argument);
    let half = b.value(B::Lane::HALF);
    let inside = b.mul(log, half);

    let (infinity, nan) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NAN));
    let is_inside = b.lt(a, one);
    let is_end = b.eq(a, one);
    let other = b.select(is_end, infinity, nan);
    let large = b.select(is_inside, inside, other);
    let result = with_series(b, a, B::Lane::HYPERBOLIC.atanh, large);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{atanh_f32, atanh_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (1.0, f64::INFINITY),
            (-1.0, f64::NEG_INFINITY),
            (1.5, f64::NAN),
            (-1.5, f64::NAN),
            (f64::INFINITY, f64::NAN),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(atanh_f32, atanh_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(atanh_f32, atanh_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d870, 0),
            (0x3c7f_9724, 0x3c7f_9c73, 0),
            (0x3dcc_cccd, 0x3dcd_7c9f, 0),
            (0x3e80_0000, 0x3e82_c578, 0),
            (0x3e99_999a, 0x3e9e_795b, 0),
            (0x3f00_0000, 0x3f0c_9f54, 0),
            (0x3f19_999a, 0x3f31_7219, 0),
            (0x3f40_0000, 0x3f79_1395, 0),
            (0x3f66_6666, 0x3fbc_71af, 0),
            (0x3f7d_70a4, 0x4029_62c3, 0),
            (0xb727_c5ac, 0xb727_c5ac, 0),
            (0xbe19_999a, 0xbe1a_c48f, 0),
            (0xbeb3_3333, 0xbebb_1b71, 0),
            (0xbf00_0000, 0xbf0c_9f54, 0),
            (0xbf33_3333, 0xbf5e_0768, 0),
            (0xbf73_3333, 0xbfea_77ca, 0),
            (0x3f7f_f972, 0x409e_73cd, 0),
            (0xbf7f_fffe, 0xc105_1592, 0),
        ];
        check_f32(atanh_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e6_698e, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7b0e_059d_0597, 0),
            (0x3f8f_f2e4_8e8a_71de, 0x3f8f_f38e_6e2d_7db6, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_af93_cd23_4412, 0),
            (0x3fd0_0000_0000_0000, 0x3fd0_58ae_fa81_1452, 0),
            (0x3fd3_3333_3333_3333, 0x3fd3_cf2b_5061_7c95, 0),
            (0x3fe0_0000_0000_0000, 0x3fe1_93ea_7aad_030b, 0),
            (0x3fe3_3333_3333_3333, 0x3fe6_2e42_fefa_39ef, 0),
            (0x3fe8_0000_0000_0000, 0x3fef_2272_ae32_5a57, 0),
            (0x3fec_cccc_cccc_cccd, 0x3ff7_8e36_0604_b32d, 0),
            (0x3fef_ae14_7ae1_47ae, 0x4005_2c58_1997_cd85, 0),
            (0xbee4_f8b5_88e3_68f1, 0xbee4_f8b5_88e6_698e, 0),
            (0xbfc3_3333_3333_3333, 0xbfc3_5891_deb9_a3b2, 0),
            (0xbfd6_6666_6666_6666, 0xbfd7_636e_3347_e0fb, 0),
            (0xbfe0_0000_0000_0000, 0xbfe1_93ea_7aad_030b, 0),
            (0xbfe6_6666_6666_6666, 0xbfeb_c0ed_0947_fbe8, 0),
            (0xbfee_6666_6666_6666, 0xbffd_4ef9_6888_0dd4, 0),
            (0x3fef_ff2e_48e8_a71e, 0x4013_ce8f_5de1_814d, 0),
            (0xbfef_ffff_ca50_1acb, 0xc020_cfad_9b61_ff69, 0),
        ];
        check_f64(atanh_f64, &rows);
    }
}
