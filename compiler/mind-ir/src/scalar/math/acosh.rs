//! `acosh`.

use super::hyperbolic::square_root;
use super::log::{Argument, log_of};
use super::pair::{Pair, ordered_sum, product};
use super::steps::{Lane, Steps};

/// acosh(x); NaN below 1.
///
/// ln(x + sqrt(x^2 - 1)) with the sum to twice the precision; ln(2 x) where x^2 outweighs 1.
#[inline]
pub fn acosh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let far = b.value(B::Lane::HYPERBOLIC.far);
    let is_far = b.lt(far, x);

    let neg_one = b.value(B::Lane::NEG_ONE);
    let square = product(b, x, x);
    let Pair { hi, lo } = ordered_sum(b, square.hi, neg_one);
    let lo = b.add(lo, square.lo);
    let root = square_root(b, Pair { hi, lo });
    let Pair { hi, lo } = ordered_sum(b, x, root.hi);
    let lo = b.add(lo, root.lo);
    let correction = b.div(lo, hi);

    let argument = Argument {
        value: b.select(is_far, x, hi),
        correction: b.select(is_far, zero, correction),
        doublings: Some(b.select(is_far, one, zero)),
    };
    let finite = log_of(b, argument);
    let (infinity, nan) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NAN));
    let is_finite = b.lt(x, infinity);
    let is_below = b.lt(x, one);
    let result = b.select(is_finite, finite, x);
    b.select(is_below, nan, result)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{acosh_f32, acosh_f64};

    #[test]
    fn special_values() {
        let rows = [
            (1.0, 0.0),
            (0.5, f64::NAN),
            (0.0, f64::NAN),
            (-2.0, f64::NAN),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(acosh_f32, acosh_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x3f80_0002, 0x3a35_04f3, 0),
            (0x3f80_0347, 0x3c67_b8d8, 0),
            (0x3f81_47ae, 0x3e10_b1eb, 0),
            (0x3f8c_cccd, 0x3ee3_1b63, 0),
            (0x3fa6_6666, 0x3f41_a595, 0),
            (0x3fc0_0000, 0x3f76_6165, 0),
            (0x4000_0000, 0x3fa8_9214, 0),
            (0x4040_0000, 0x3fe1_a1b3, 0),
            (0x4120_0000, 0x403f_90f7, 0),
            (0x447a_0000, 0x40f3_3a97, 0),
            (0x4974_2400, 0x4168_2376, 0),
            (0x4e6e_6b28, 0x41ab_54d0, 0),
            (0x4e83_2156, 0x41ac_1802, 0),
            (0x60ad_78ec, 0x423a_faba, 0),
            (0x7f61_b1e6, 0x42b2_947a, 0),
        ];
        check_f32(acosh_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x3ff0_0000_35af_e535, 0x3f44_b96b_e3df_ec64, 0),
            (0x3ff0_0068_db8b_ac71, 0x3f8c_f67d_7ec0_d4e5, 0),
            (0x3ff0_28f5_c28f_5c29, 0x3fc2_163d_ee5f_066d, 0),
            (0x3ff1_9999_9999_999a, 0x3fdc_636c_1a88_2f2c, 0),
            (0x3ff4_cccc_cccc_cccd, 0x3fe8_34b2_cab7_f58e, 0),
            (0x3ff8_0000_0000_0000, 0x3fee_cc2c_aec5_160a, 0),
            (0x4000_0000_0000_0000, 0x3ff5_1242_7198_0435, 0),
            (0x4008_0000_0000_0000, 0x3ffc_3436_6179_d427, 0),
            (0x4024_0000_0000_0000, 0x4007_f21e_d1ce_05d4, 0),
            (0x408f_4000_0000_0000, 0x401e_6752_e8a8_4ed4, 0),
            (0x412e_8480_0000_0000, 0x402d_046e_c97f_a2b2, 0),
            (0x41cd_cd65_0000_0000, 0x4035_6a9a_0b23_d188, 0),
            (0x41d0_642a_c000_0000, 0x4035_8300_4a9d_0dce, 0),
            (0x4415_af1d_78b5_8c40, 0x4047_5f57_369e_9343, 0),
            (0x47ec_363c_bf21_f28a, 0x4056_528f_3ecf_fd8a, 0),
            (0x7e37_e43c_8800_759c, 0x4085_9bbf_d8b8_3e44, 0),
        ];
        check_f64(acosh_f64, &rows);
    }
}
