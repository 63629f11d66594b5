//! `asinh`.

use super::hyperbolic::{square_root, with_series};
use super::log::{Argument, log_of};
use super::pair::{Pair, ordered_sum, product, sum};
use super::steps::{Lane, Steps, join_sign, split_sign};

/// asinh(x).
///
/// On a = |x|, ln(a + sqrt(a^2 + 1)) with the sum to twice the precision; a series where the result is close
/// to a, and ln(2 a) where a^2 outweighs 1.
#[inline]
pub fn asinh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::HYPERBOLIC;
    let (a, sign) = split_sign(b, x);
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let far = b.value(c.far);
    let is_far = b.lt(far, a);

    let square = product(b, a, a);
    let Pair { hi, lo } = sum(b, square.hi, one);
    let lo = b.add(lo, square.lo);
    let root = square_root(b, Pair { hi, lo });
    let Pair { hi, lo } = ordered_sum(b, root.hi, a);
    let lo = b.add(lo, root.lo);
    let correction = b.div(lo, hi);

    let argument = Argument {
        value: b.select(is_far, a, hi),
        correction: b.select(is_far, zero, correction),
        doublings: Some(b.select(is_far, one, zero)),
    };
    let large = log_of(b, argument);
    let infinity = b.value(B::Lane::INFINITY);
    let is_finite = b.lt(a, infinity);
    let large = b.select(is_finite, large, a);
    let result = with_series(b, a, c.asinh, large);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{asinh_f32, asinh_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
            (f64::NAN, f64::NAN),
        ];
        check_special(asinh_f32, asinh_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(asinh_f32, asinh_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d657, 0),
            (0x3c80_9d49, 0x3c80_9bef, 0),
            (0x3dcc_cccd, 0x3dcc_75cf, 0),
            (0x3e99_999a, 0x3e97_6276, 0),
            (0x3f00_0000, 0x3ef6_6165, 0),
            (0x3f40_0000, 0x3f31_7218, 0),
            (0x3f80_0000, 0x3f61_a1b3, 0),
            (0x3fc0_0000, 0x3f98_ee00, 0),
            (0x4040_0000, 0x3fe8_c2db, 0),
            (0x4120_0000, 0x403f_e2e3, 0),
            (0x447a_0000, 0x40f3_3a98, 0),
            (0x4974_2400, 0x4168_2376, 0),
            (0x4e83_2156, 0x41ac_1802, 0),
            (0x60ad_78ec, 0x423a_faba, 0),
            (0x7f61_b1e6, 0x42b2_947a, 0),
            (0xbe4c_cccd, 0xbe4b_756c, 0),
            (0xbf33_3333, 0xbf27_1528, 0),
            (0xc000_0000, 0xbfb8_c90c, 0),
            (0xc7c3_5000, 0xc143_4c13, 0),
        ];
        check_f32(asinh_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e1_e8a2, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7aca_e950_8b07, 0),
            (0x3f90_13a9_2a30_5532, 0x3f90_137d_e2b5_5cdb, 1),
            (0x3fb9_9999_9999_999a, 0x3fb9_8eb9_e7e5_fc3e, 0),
            (0x3fd3_3333_3333_3333, 0x3fd2_ec4e_a565_fcc1, 0),
            (0x3fe0_0000_0000_0000, 0x3fde_cc2c_aec5_160a, 0),
            (0x3fe8_0000_0000_0000, 0x3fe6_2e42_fefa_39ef, 0),
            (0x3ff0_0000_0000_0000, 0x3fec_3436_6179_d427, 0),
            (0x3ff8_0000_0000_0000, 0x3ff3_1dc0_090b_63d8, 0),
            (0x4008_0000_0000_0000, 0x3ffd_185b_507e_dc0e, 0),
            (0x4024_0000_0000_0000, 0x4007_fc5c_506d_2bdb, 0),
            (0x408f_4000_0000_0000, 0x401e_6753_0a36_3e15, 0),
            (0x412e_8480_0000_0000, 0x402d_046e_c97f_a3cc, 0),
            (0x41d0_642a_c000_0000, 0x4035_8300_4a9d_0dce, 0),
            (0x4415_af1d_78b5_8c40, 0x4047_5f57_369e_9343, 0),
            (0x47ec_363c_bf21_f28a, 0x4056_528f_3ecf_fd8a, 0),
            (0xbfc9_9999_9999_999a, 0xbfc9_6ead_72fe_8b33, 0),
            (0xbfe6_6666_6666_6666, 0xbfe4_e2a4_fe90_85dd, 0),
            (0xc000_0000_0000_0000, 0xbff7_1921_8313_d087, 0),
            (0xc0f8_6a00_0000_0000, 0xc028_6982_5a92_84f4, 0),
            (0x7e37_e43c_8800_759c, 0x4085_9bbf_d8b8_3e44, 0),
        ];
        check_f64(asinh_f64, &rows);
    }
}
