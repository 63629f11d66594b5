//! `asin`.

use super::arc::{Reduced, from_base, reduce};
use super::pair::Pair;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// asin(x); NaN beyond -1 and 1.
///
/// On a = |x|, a + a^3 P(a^2) up to 1/2, from there on pi/2 - 2 asin(sqrt((1 - a) / 2)).
#[inline]
pub fn asin<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let (a, sign) = split_sign(b, x);
    let Reduced { is_small, root, z } = reduce(b, a);

    let (zero, neg_two) = (b.value(B::Lane::ZERO), b.value(B::Lane::NEG_TWO));
    let neg_twice = b.mul(root, neg_two);
    let argument = b.select(is_small, a, neg_twice);
    let (half_pi, half_pi_lo) = (b.value(c.half_pi), b.value(c.half_pi_lo));
    let base = Pair {
        hi: b.select(is_small, zero, half_pi),
        lo: b.select(is_small, zero, half_pi_lo),
    };
    let result = from_base(b, base, argument, z);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{asin_f32, asin_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (1.5, f64::NAN),
            (-1.5, f64::NAN),
            (f64::INFINITY, f64::NAN),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(asin_f32, asin_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(asin_f32, asin_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d7bd, 0),
            (0x3c7f_9724, 0x3c7f_99cb, 0),
            (0x3dcc_cccd, 0x3dcd_2494, 0),
            (0x3e80_0000, 0x3e81_5f4e, 0),
            (0x3e99_999a, 0x3e9c_00ad, 0),
            (0x3f00_0000, 0x3f06_0a92, 0),
            (0x3f19_999a, 0x3f24_bc7e, -1),
            (0x3f40_0000, 0x3f59_1a99, 0),
            (0x3f66_6666, 0x3f8f_549b, 0),
            (0x3f7d_70a4, 0x3fb6_f1e4, 0),
            (0xb727_c5ac, 0xb727_c5ac, 0),
            (0xbe19_999a, 0xbe1a_2e92, 0),
            (0xbeb3_3333, 0xbeb7_138f, 0),
            (0xbf00_0000, 0xbf06_0a92, 0),
            (0xbf33_3333, 0xbf46_8073, 0),
            (0xbf73_3333, 0xbfa0_6a08, 0),
            (0x3f80_0000, 0x3fc9_0fdb, 0),
            (0xbf80_0000, 0xbfc9_0fdb, 0),
        ];
        check_f32(asin_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e4_e940, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7af7_a68f_8eef, 0),
            (0x3f8f_f2e4_8e8a_71de, 0x3f8f_f339_7d90_bf84, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_a492_7603_7884, 0),
            (0x3fd0_0000_0000_0000, 0x3fd0_2be9_ce0b_87cd, 0),
            (0x3fd3_3333_3333_3333, 0x3fd3_8015_9e14_f6ff, -1),
            (0x3fe0_0000_0000_0000, 0x3fe0_c152_382d_7366, 0),
            (0x3fe3_3333_3333_3333, 0x3fe4_978f_a326_9ee1, 0),
            (0x3fe8_0000_0000_0000, 0x3feb_2353_15c6_80dc, 0),
            (0x3fec_cccc_cccc_cccd, 0x3ff1_ea93_705f_a172, 0),
            (0x3fef_ae14_7ae1_47ae, 0x3ff6_de3c_6f33_d51d, 0),
            (0xbee4_f8b5_88e3_68f1, 0xbee4_f8b5_88e4_e940, 0),
            (0xbfc3_3333_3333_3333, 0xbfc3_45d2_37b2_0eb3, 0),
            (0xbfd6_6666_6666_6666, 0xbfd6_e271_e909_bbe4, 0),
            (0xbfe0_0000_0000_0000, 0xbfe0_c152_382d_7366, 0),
            (0xbfe6_6666_6666_6666, 0xbfe8_d00e_692a_fd95, 1),
            (0xbfee_6666_6666_6666, 0xbff4_0d41_159f_3409, 0),
            (0x3ff0_0000_0000_0000, 0x3ff9_21fb_5444_2d18, 0),
            (0xbff0_0000_0000_0000, 0xbff9_21fb_5444_2d18, 0),
        ];
        check_f64(asin_f64, &rows);
    }
}
