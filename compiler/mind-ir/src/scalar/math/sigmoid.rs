//! `sigmoid`.

use super::exp::{clamp, exp_parts, inverse_power};
use super::steps::{Lane, Steps};

/// 1 / (1 + e^-x).
///
/// With e^-x = first * second * (1 + q), both sides of the quotient are divided by `second`, so
/// that neither overflows where the result is subnormal.
#[inline]
pub fn sigmoid<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::SIGMOID;
    let x = clamp(b, x, c.lowest, c.highest);
    let far = b.value(c.far);
    let is_far = b.lt(x, far);
    let neg_x = b.neg(x);
    let (power, q) = exp_parts(b, neg_x);

    let inverse = inverse_power(b, power.second);

    // first + inverse + q * first, in the order with the smallest error.
    let zero = b.value(B::Lane::ZERO);
    let powers = b.add(power.first, inverse);
    let inner = b.select(is_far, inverse, powers);
    let outer = b.select(is_far, power.first, zero);
    let sum = b.fma(q, power.first, inner);
    let sum = b.add(sum, outer);
    b.div(inverse, sum)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{sigmoid_f32, sigmoid_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.5),
            (-0.0, 0.5),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, 0.0),
            (1e3, 1.0),
            (-1e3, 0.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(sigmoid_f32, sigmoid_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0x3f00_0000, 0),
            (0x3727_c5ac, 0x3f00_002a, 0),
            (0x3dcc_cccd, 0x3f06_6509, 0),
            (0x3e80_0000, 0x3f0f_eacd, 0),
            (0x3f00_0000, 0x3f1f_597f, 0),
            (0x3f40_0000, 0x3f2d_dea8, 0),
            (0x3f66_6666, 0x3f36_00c9, 0),
            (0x3f80_0000, 0x3f3b_26a8, 0),
            (0x3fc0_0000, 0x3f51_4c90, 0),
            (0x4000_0000, 0x3f61_7beb, -1),
            (0x4040_0000, 0x3f73_dbe6, 0),
            (0x4090_0000, 0x3f7d_2ff6, 0),
            (0x4120_0000, 0x3f7f_fd06, 0),
            (0x4188_0000, 0x3f7f_ffff, 1),
            (0xb727_c5ac, 0x3eff_ffac, 0),
            (0xbe99_999a, 0x3ed9_e2ac, 0),
            (0xbf80_0000, 0x3e89_b2b1, 0),
            (0xc100_0000, 0x39af_d1ef, 0),
            (0xc188_0000, 0x3331_cf18, 0),
            (0xc248_0000, 0x1b69_2beb, 0),
            (0xc2ae_0000, 0x00b3_3687, 1),
            (0xc2b0_0000, 0x0041_edc4, 0),
            (0xc2bf_0000, 0x0000_0956, 0),
            (0xc2ce_6666, 0x0000_0001, 0),
        ];
        check_f32(sigmoid_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_1268_8b70_e62b, 0x3fe0_0000_0000_0000, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3fe0_0005_3e2d_6239, -1),
            (0x3fb9_9999_9999_999a, 0x3fe0_cca1_2729_afb8, 0),
            (0x3fd0_0000_0000_0000, 0x3fe1_fd59_92bc_4b83, 0),
            (0x3fe0_0000_0000_0000, 0x3fe3_eb2f_d4d3_4391, 0),
            (0x3fe8_0000_0000_0000, 0x3fe5_bbd4_f7a3_23ec, 0),
            (0x3fec_cccc_cccc_cccd, 0x3fe6_c019_2bdc_382f, -1),
            (0x3ff0_0000_0000_0000, 0x3fe7_64d4_f5d5_a2bd, 0),
            (0x3ff8_0000_0000_0000, 0x3fea_2991_f2a9_7914, 0),
            (0x4000_0000_0000_0000, 0x3fec_2f7d_5a8a_79ca, 1),
            (0x4008_0000_0000_0000, 0x3fee_7b7c_bc36_fabc, 1),
            (0x4012_0000_0000_0000, 0x3fef_a5fe_b616_fe8f, 0),
            (0x4024_0000_0000_0000, 0x3fef_ffa0_cb34_6f89, 0),
            (0x4042_0000_0000_0000, 0x3fef_ffff_ffff_fffe, 0),
            (0xbee4_f8b5_88e3_68f1, 0x3fdf_fff5_83a5_3b8f, 0),
            (0xbfd3_3333_3333_3333, 0x3fdb_3c55_7437_2aeb, 0),
            (0xbff0_0000_0000_0000, 0x3fd1_3656_1454_ba86, 0),
            (0xc020_0000_0000_0000, 0x3f35_fa3d_d7d2_f7a6, 0),
            (0xc042_5999_9999_999a, 0x3ca0_998b_04bd_d18f, 0),
            (0xc07f_4000_0000_0000, 0x12d9_265e_78d4_438d, -1),
            (0xc086_2000_0000_0000, 0x0017_c8ab_2288_c9ab, 1),
            (0xc086_2800_0000_0000, 0x0008_bfe5_5de0_2338, 0),
            (0xc086_d400_0000_0000, 0x0000_0000_0011_486c, 0),
            (0xc087_4333_3333_3333, 0x0000_0000_0000_0001, 0),
        ];
        check_f64(sigmoid_f64, &rows);
    }
}
