//! `expm1`.

use super::exp::{ExpSum, clamp, exp_sum, inverse_power};
use super::steps::{Lane, Steps};

/// e^x - 1.
///
/// With e^x = first * second * (1 + r + p), the sum first (1 + r) - 1 / second is taken without its rounding,
/// so that only the last addition rounds; the product with `second` is exact or overflows.
#[inline]
pub fn expm1<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::EXP;
    let limited = clamp(b, x, c.lowest, c.highest);
    let ExpSum { power, r, p } = exp_sum(b, limited);
    let inverse = inverse_power(b, power.second);
    let base = b.sub(power.first, inverse);
    let sum = b.fma(power.first, r, base);
    let rounded = b.sub(base, sum);
    let rest = b.fma(power.first, r, rounded);
    let rest = b.fma(power.first, p, rest);
    let scaled = b.add(sum, rest);
    let result = b.mul(scaled, power.second);

    let zero = b.value(B::Lane::ZERO);
    let is_zero = b.eq(x, zero);
    b.select(is_zero, x, result)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{expm1_f32, expm1_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, -1.0),
            (1e3, f64::INFINITY),
            (-1e3, -1.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(expm1_f32, expm1_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c5e3, 0),
            (0x3c23_d70a, 0x3c24_a974, 0),
            (0x3dcc_cccd, 0x3dd7_63da, 0),
            (0x3e80_0000, 0x3e91_6bc8, 0),
            (0x3eae_147b, 0x3ecf_554b, -1),
            (0x3eb3_3333, 0x3ed6_9005, 1),
            (0x3f00_0000, 0x3f26_1299, 0),
            (0x3f40_0000, 0x3f8e_f9db, 0),
            (0x3f80_0000, 0x3fdb_f0a9, 0),
            (0x3fc0_0000, 0x405e_d3fe, 0),
            (0x4040_0000, 0x4198_af2e, 0),
            (0x4120_0000, 0x46ac_12ee, 1),
            (0x4180_0000, 0x4b07_975e, 0),
            (0x4205_3333, 0x5783_c1fa, 0),
            (0x42b0_0000, 0x7ef8_82b7, 0),
            (0x42b1_70a4, 0x7f7f_4648, 0),
            (0xb727_c5ac, 0xb727_c575, 0),
            (0xbdcc_cccd, 0xbdc2_e49a, 0),
            (0xbeb3_3333, 0xbe97_331f, 0),
            (0xbf00_0000, 0xbec9_74d0, 0),
            (0xbf80_0000, 0xbf21_d2a7, 0),
            (0xc040_0000, 0xbf73_4128, 0),
            (0xc120_0000, 0xbf7f_fd06, 0),
            (0xc18c_0000, 0xbf80_0000, 0),
        ];
        check_f32(expm1_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8bc_681c_dfb6, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_952e_9791_133f, 0),
            (0x3fb9_9999_9999_999a, 0x3fba_ec7b_35a0_0d3a, 0),
            (0x3fd0_0000_0000_0000, 0x3fd2_2d78_f0fa_061a, 0),
            (0x3fd5_c28f_5c28_f5c3, 0x3fd9_eaa9_4c84_22f5, 1),
            (0x3fd6_6666_6666_6666, 0x3fda_d200_b201_77b2, 0),
            (0x3fe0_0000_0000_0000, 0x3fe4_c253_1c3c_0d38, 0),
            (0x3fe8_0000_0000_0000, 0x3ff1_df3b_68cf_b9ef, 1),
            (0x3ff0_0000_0000_0000, 0x3ffb_7e15_1628_aed3, 0),
            (0x3ff8_0000_0000_0000, 0x400b_da7f_cc9f_8a83, 0),
            (0x4008_0000_0000_0000, 0x4033_15e5_bf6f_b106, 0),
            (0x4024_0000_0000_0000, 0x40d5_825d_cf95_0560, 0),
            (0x4030_0000_0000_0000, 0x4160_f2eb_b0a8_0020, 0),
            (0x4040_a666_6666_6666, 0x42f0_7840_1f5a_3eb8, 0),
            (0x4056_0000_0000_0000, 0x47df_1056_dc7b_f22d, 0),
            (0x4056_2e14_7ae1_47ae, 0x47ef_e8c6_6538_2968, 0),
            (0xbee4_f8b5_88e3_68f1, 0xbee4_f8ae_a9ac_f2c9, 0),
            (0xbfb9_9999_9999_999a, 0xbfb8_5c93_3156_a62c, 0),
            (0xbfd6_6666_6666_6666, 0xbfd2_e663_ed31_c11e, 0),
            (0xbfe0_0000_0000_0000, 0xbfd9_2e9a_0720_d3ec, 0),
            (0xbff0_0000_0000_0000, 0xbfe4_3a54_e4e9_8864, 0),
            (0xc008_0000_0000_0000, 0xbfee_6824_f333_14f5, 0),
            (0xc024_0000_0000_0000, 0xbfef_ffa0_ca19_2a6e, 0),
            (0xc031_8000_0000_0000, 0xbfef_ffff_f284_e8b7, 0),
            (0x4085_e0cc_cccc_cccd, 0x7f10_5861_4179_b2a5, 0),
            (0x4086_2d99_9999_999a, 0x7fed_75ae_7a50_ee14, 0),
            (0xc042_4000_0000_0000, 0xbfef_ffff_ffff_ffff, 0),
        ];
        check_f64(expm1_f64, &rows);
    }
}
