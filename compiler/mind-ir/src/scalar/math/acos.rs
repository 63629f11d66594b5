//! `acos`.

use super::arc::{Reduced, from_base, reduce};
use super::pair::Pair;
use super::steps::{Lane, Steps, split_sign};

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

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{acos_f32, acos_f64};

    #[test]
    fn special_values() {
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
    fn bits_in_f32() {
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
    fn bits_in_f64() {
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
