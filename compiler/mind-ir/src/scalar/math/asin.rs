//! `asin` and `acos`.

use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

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

/// acos(x); NaN beyond -1 and 1.
///
/// pi/2 - asin(x) up to |x| = 1/2, beyond that 2 asin(sqrt((1 - |x|) / 2)) or its complement to pi.
#[inline]
pub fn acos<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let (a, _) = split_sign(b, x);
    let Reduced { is_small, root, z } = reduce(b, a);

    let zero = b.value(B::Lane::ZERO);
    let is_negative = b.lt(x, zero);
    let twice = b.add(root, root);
    let (neg_x, neg_twice) = (b.neg(x), b.neg(twice));
    let large = b.select(is_negative, neg_twice, twice);
    let argument = b.select(is_small, neg_x, large);
    let mut base = |half: B::Lane, whole: B::Lane| {
        let (half, whole) = (b.value(half), b.value(whole));
        let large = b.select(is_negative, whole, zero);
        b.select(is_small, half, large)
    };
    let base = Pair {
        hi: base(c.half_pi, c.pi),
        lo: base(c.half_pi_lo, c.pi_lo),
    };
    from_base(b, base, argument, z)
}

/// How the arc sine of a number is found.
struct Reduced<B: Steps> {
    /// Whether the number is below 1/2.
    is_small: B::Mask,
    /// sqrt((1 - a) / 2).
    root: B::Value,
    /// The square of the number, or of `root`.
    z: B::Value,
}

#[inline]
fn reduce<B: Steps>(b: &mut B, a: B::Value) -> Reduced<B> {
    let (half, neg_half) = (b.value(B::Lane::HALF), b.value(B::Lane::NEG_HALF));
    let is_small = b.lt(a, half);
    let complement = b.fma(a, neg_half, half);
    let root = b.sqrt(complement);
    let square = b.mul(a, a);
    let z = b.select(is_small, square, complement);
    Reduced { is_small, root, z }
}

/// `base` + k asin(s), where `argument` is k s and `z` is s^2.
#[inline]
fn from_base<B: Steps>(
    b: &mut B,
    base: Pair<B::Value>,
    argument: B::Value,
    z: B::Value,
) -> B::Value {
    let p = horner(b, z, B::Lane::ARC.asin);
    let cube = b.mul(argument, z);
    let rest = b.fma(cube, p, base.lo);
    let Pair { hi, lo } = ordered_sum(b, base.hi, argument);
    let rest = b.add(rest, lo);
    b.add(hi, rest)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{acos_f32, acos_f64, asin_f32, asin_f64};

    #[test]
    fn special_values_of_asin() {
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
    fn is_odd_of_asin() {
        check_odd(asin_f32, asin_f64);
    }

    #[test]
    fn bits_in_f32_of_asin() {
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
    fn bits_in_f64_of_asin() {
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

    #[test]
    fn special_values_of_acos() {
        let rows = [
            (1.0, 0.0),
            (1.5, f64::NAN),
            (-1.5, f64::NAN),
            (f64::INFINITY, f64::NAN),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(acos_f32, acos_f64, &rows);
    }

    #[test]
    fn bits_in_f32_of_acos() {
        let rows = [
            (0x0000_1be0, 0x3fc9_0fdb, 0),
            (0x3727_c5ac, 0x3fc9_0f87, 0),
            (0x3c23_d70a, 0x3fc7_c82b, 0),
            (0x3c7f_9724, 0x3fc7_10a7, 0),
            (0x3dcc_cccd, 0x3fbc_3d91, 0),
            (0x3e80_0000, 0x3fa8_b807, 0),
            (0x3e99_999a, 0x3fa2_0faf, 0),
            (0x3f00_0000, 0x3f86_0a92, 0),
            (0x3f19_999a, 0x3f6d_6338, 0),
            (0x3f40_0000, 0x3f39_051d, -1),
            (0x3f66_6666, 0x3ee6_ecfe, 0),
            (0x3f7d_70a4, 0x3e10_efb5, 0),
            (0xb727_c5ac, 0x3fc9_102f, 0),
            (0xbe19_999a, 0x3fdc_55ad, 0),
            (0xbeb3_3333, 0x3ff6_d4be, 0),
            (0xbf00_0000, 0x4006_0a92, 0),
            (0xbf33_3333, 0x4016_280a, 0),
            (0xbf73_3333, 0x4034_bcf1, 1),
            (0x3f80_0000, 0x0000_0000, 0),
            (0xbf80_0000, 0x4049_0fdb, 0),
        ];
        check_f32(acos_f32, &rows);
    }

    #[test]
    fn bits_in_f64_of_acos() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x3ff9_21fb_5444_2d18, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ff9_21f0_d7e9_68a6, 0),
            (0x3f84_7ae1_47ae_147b, 0x3ff8_f905_64f7_0dfa, 0),
            (0x3f8f_f2e4_8e8a_71de, 0x3ff8_e214_e149_0b99, 0),
            (0x3fb9_9999_9999_999a, 0x3ff7_87b2_2ce3_f590, 0),
            (0x3fd0_0000_0000_0000, 0x3ff5_1700_e0c1_4b25, 0),
            (0x3fd3_3333_3333_3333, 0x3ff4_41f5_ecbe_ef59, 0),
            (0x3fe0_0000_0000_0000, 0x3ff0_c152_382d_7366, -1),
            (0x3fe3_3333_3333_3333, 0x3fed_ac67_0561_bb50, -1),
            (0x3fe8_0000_0000_0000, 0x3fe7_20a3_92c1_d955, 0),
            (0x3fec_cccc_cccc_cccd, 0x3fdc_dd9f_8f92_2e98, 0),
            (0x3fef_ae14_7ae1_47ae, 0x3fc2_1df7_2882_bfd8, -1),
            (0xbee4_f8b5_88e3_68f1, 0x3ff9_2205_d09e_f18b, 0),
            (0xbfc3_3333_3333_3333, 0x3ffb_8ab5_9b3a_6eef, 0),
            (0xbfd6_6666_6666_6666, 0x3ffe_da97_ce86_9c11, 0),
            (0xbfe0_0000_0000_0000, 0x4000_c152_382d_7366, 0),
            (0xbfe6_6666_6666_6666, 0x4002_c501_446c_d5f1, 1),
            (0xbfee_6666_6666_6666, 0x4006_979e_34f1_b091, 0),
            (0x3ff0_0000_0000_0000, 0x0000_0000_0000_0000, 0),
            (0xbff0_0000_0000_0000, 0x4009_21fb_5444_2d18, 0),
        ];
        check_f64(acos_f64, &rows);
    }
}
