//! `sinh`.

use super::hyperbolic::{exponentials, with_series};
use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, join_sign, split_sign};

/// sinh(x).
///
/// A series where the exponentials nearly cancel, from there on half their difference.
#[inline]
pub fn sinh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::HYPERBOLIC;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);
    let e = exponentials(b, a);

    let neg_falling = b.neg(e.falling.hi);
    let Pair { hi, lo } = ordered_sum(b, e.growing.hi, neg_falling);
    let rest = b.sub(e.growing.lo, e.falling.lo);
    let rest = b.add(rest, lo);
    let difference = b.add(hi, rest);
    let half = b.value(B::Lane::HALF);
    let halved = b.mul(difference, half);
    let large = b.mul(halved, e.scale);

    let result = with_series(b, a, c.sinh, large);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_odd, check_special};
    use super::super::{sinh_f32, sinh_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
            (1e3, f64::INFINITY),
            (-1e3, f64::NEG_INFINITY),
            (f64::NAN, f64::NAN),
        ];
        check_special(sinh_f32, sinh_f64, &rows);
    }

    #[test]
    fn is_odd() {
        check_odd(sinh_f32, sinh_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3c23_d70a, 0x3c23_d7bd, 0),
            (0x3c80_9d49, 0x3c80_9ea3, 0),
            (0x3dcc_cccd, 0x3dcd_243a, 0),
            (0x3e99_999a, 0x3e9b_ea16, 0),
            (0x3eae_147b, 0x3eb1_7411, 0),
            (0x3eb3_3333, 0x3eb6_e192, 0),
            (0x3f00_0000, 0x3f05_6680, 1),
            (0x3f80_0000, 0x3f96_6cfe, 0),
            (0x3fc0_0000, 0x4008_461d, 0),
            (0x4040_0000, 0x4120_4937, 0),
            (0x4120_0000, 0x462c_14ee, 1),
            (0x4205_3333, 0x5703_c1fa, 0),
            (0x42b0_0000, 0x7e78_82b7, 0),
            (0x42b2_cccd, 0x7f7b_f0c0, 0),
            (0xbe4c_cccd, 0xbe4e_2b07, -1),
            (0xbf33_3333, 0xbf42_328a, 0),
            (0xc000_0000, 0xc068_1e7b, 0),
            (0xc1a0_0000, 0xcd67_5844, 0),
        ];
        check_f32(sinh_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e4_e940, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_7af7_a654_e9ef, 0),
            (0x3f90_13a9_2a30_5532, 0x3f90_13d4_7308_dc7c, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_a487_337b_59b3, 0),
            (0x3fd3_3333_3333_3333, 0x3fd3_7d42_af54_b926, 0),
            (0x3fd5_c28f_5c28_f5c3, 0x3fd6_2e82_17f1_25c5, 1),
            (0x3fd6_6666_6666_6666, 0x3fd6_dc32_4f99_9c68, 0),
            (0x3fe0_0000_0000_0000, 0x3fe0_acd0_0fe6_3b97, 0),
            (0x3ff0_0000_0000_0000, 0x3ff2_cd9f_c44e_b982, 0),
            (0x3ff8_0000_0000_0000, 0x4001_08c3_aabd_6a60, 0),
            (0x4008_0000_0000_0000, 0x4024_0926_e709_49ae, 0),
            (0x4024_0000_0000_0000, 0x40c5_829d_ced6_9992, 0),
            (0x4040_a666_6666_6666, 0x42e0_7840_1f5a_3ec8, 0),
            (0x4056_0000_0000_0000, 0x47cf_1056_dc7b_f22d, 0),
            (0x4056_5999_9999_999a, 0x47ef_7e14_de61_a3ae, 0),
            (0xbfc9_9999_9999_999a, 0xbfc9_c560_cd35_ef81, 0),
            (0xbfe6_6666_6666_6666, 0xbfe8_4651_53d5_bdbd, 0),
            (0xc000_0000_0000_0000, 0xc00d_03cf_63b6_e19f, 0),
            (0xc034_0000_0000_0000, 0xc1ac_eb08_8b68_e804, 0),
            (0x4082_c400_0000_0000, 0x7604_3ab1_29a8_811a, 0),
            (0x4086_3199_9999_999a, 0x7fe8_4910_bde1_ee21, 0),
        ];
        check_f64(sinh_f64, &rows);
    }
}
