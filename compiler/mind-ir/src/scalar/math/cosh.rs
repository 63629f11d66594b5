//! `cosh`.

use super::hyperbolic::exponentials;
use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, split_sign};

/// cosh(x), half the sum of both exponentials.
#[inline]
pub fn cosh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let (a, _) = split_sign(b, x);
    let highest = b.value(B::Lane::HYPERBOLIC.highest);
    let a = b.min(highest, a);
    let e = exponentials(b, a);

    let Pair { hi, lo } = ordered_sum(b, e.growing.hi, e.falling.hi);
    let rest = b.add(e.growing.lo, e.falling.lo);
    let rest = b.add(rest, lo);
    let sum = b.add(hi, rest);
    let half = b.value(B::Lane::HALF);
    let halved = b.mul(sum, half);
    b.mul(halved, e.scale)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{cosh_f32, cosh_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 1.0),
            (-0.0, 1.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::INFINITY),
            (1e3, f64::INFINITY),
            (-1e3, f64::INFINITY),
            (f64::NAN, f64::NAN),
        ];
        check_special(cosh_f32, cosh_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x3f80_0000, 0),
            (0x3727_c5ac, 0x3f80_0000, 0),
            (0x3c23_d70a, 0x3f80_01a3, 0),
            (0x3dcc_cccd, 0x3f80_a3fa, 0),
            (0x3e99_999a, 0x3f85_cda7, 0),
            (0x3eae_147b, 0x3f87_784e, 0),
            (0x3eb3_3333, 0x3f87_eb9d, 0),
            (0x3f00_0000, 0x3f90_560c, 0),
            (0x3f80_0000, 0x3fc5_83ab, 0),
            (0x3fc0_0000, 0x4016_8de1, 0),
            (0x4040_0000, 0x4121_1525, 0),
            (0x4120_0000, 0x462c_14ef, 0),
            (0x4205_3333, 0x5703_c1fa, 0),
            (0x42b0_0000, 0x7e78_82b7, 0),
            (0x42b2_cccd, 0x7f7b_f0c0, 0),
            (0xbe4c_cccd, 0x3f82_918c, 0),
            (0xbf33_3333, 0x3fa0_a961, 0),
            (0xc000_0000, 0x4070_c7d0, 0),
            (0xc1a0_0000, 0x4d67_5844, 0),
        ];
        check_f32(cosh_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x3ff0_0000_0000_0000, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ff0_0000_0003_6f9c, 0),
            (0x3f84_7ae1_47ae_147b, 0x3ff0_0034_6de2_7853, 0),
            (0x3fb9_9999_9999_999a, 0x3ff0_147f_4022_4b38, 0),
            (0x3fd3_3333_3333_3333, 0x3ff0_b9b4_e0b6_ec4c, 0),
            (0x3fd5_c28f_5c28_f5c3, 0x3ff0_ef09_cd24_bf4c, 0),
            (0x3fd6_6666_6666_6666, 0x3ff0_fd73_9899_f6d2, 0),
            (0x3fe0_0000_0000_0000, 0x3ff2_0ac1_862a_e8d0, 0),
            (0x3ff0_0000_0000_0000, 0x3ff8_b075_51d9_f550, 0),
            (0x3ff8_0000_0000_0000, 0x4002_d1bc_21e2_2022, 0),
            (0x4008_0000_0000_0000, 0x4024_22a4_97d6_185e, 0),
            (0x4024_0000_0000_0000, 0x40c5_829d_d053_712d, 0),
            (0x4040_a666_6666_6666, 0x42e0_7840_1f5a_3ec8, 0),
            (0x4056_0000_0000_0000, 0x47cf_1056_dc7b_f22d, 0),
            (0x4056_5999_9999_999a, 0x47ef_7e14_de61_a3ae, 0),
            (0xbfc9_9999_9999_999a, 0x3ff0_5231_84b1_ee9d, 0),
            (0xbfe6_6666_6666_6666, 0x3ff4_152c_1862_342f, 0),
            (0xc000_0000_0000_0000, 0x400e_18fa_0df2_d9bc, 0),
            (0xc034_0000_0000_0000, 0x41ac_eb08_8b68_e804, 0),
            (0x4082_c400_0000_0000, 0x7604_3ab1_29a8_811a, 0),
            (0x4086_3199_9999_999a, 0x7fe8_4910_bde1_ee21, 0),
        ];
        check_f64(cosh_f64, &rows);
    }
}
