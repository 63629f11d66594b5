//! `tanh`.

use super::exp::{expm1_reduced, power_of_two};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// tanh(x).
///
/// Below `middle` an odd polynomial, from there on 1 - 2 / (e^(2|x|) + 1).
#[inline]
pub fn tanh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::TANH;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let a2 = b.mul(a, a);
    let a3 = b.mul(a2, a);
    let small = horner(b, a2, c.poly);
    let small = b.fma(small, a3, a);

    let twice = b.add(a, a);
    let (log2_e, round) = (b.value(B::Lane::EXP.log2_e), b.value(B::Lane::EXP.round));
    let k = b.fma(twice, log2_e, round);
    let n = b.sub(k, round);
    // One constant for ln(2) is enough: where n is large, the quotient is small.
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.fma(n, neg_ln2, twice);
    let q = expm1_reduced(b, r);
    let power = power_of_two(b, k);
    let (one, two) = (b.value(B::Lane::ONE), b.value(B::Lane::TWO));
    let sum = b.add(power, one);
    let sum = b.fma(q, power, sum);
    let quotient = b.div(two, sum);
    let large = b.sub(one, quotient);

    let middle = b.value(c.middle);
    let is_small = b.lt(a, middle);
    let result = b.select(is_small, small, large);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bounded, check_f32, check_f64, check_odd, check_special};
    use super::super::{tanh_f32, tanh_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, -1.0),
            (30.0, 1.0),
            (-30.0, -1.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(tanh_f32, tanh_f64, &rows);
    }

    #[test]
    fn odd_and_bounded() {
        check_odd(tanh_f32, tanh_f64);
        check_bounded(tanh_f32, tanh_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0x0001_16c2, 0),
            (0x3727_c5ac, 0x3727_c5ac, 0),
            (0x3dcc_cccd, 0x3dcc_1ebc, 0),
            (0x3e80_0000, 0x3e7a_cbf5, 0),
            (0x3f00_0000, 0x3eec_9a9f, -1),
            (0x3f40_0000, 0x3f22_991f, 0),
            (0x3f66_6666, 0x3f37_5f4c, 0),
            (0x3f80_0000, 0x3f42_f7d6, 0),
            (0x3fc0_0000, 0x3f67_b7cc, 0),
            (0x4000_0000, 0x3f76_ca83, 0),
            (0x4040_0000, 0x3f7e_bbe9, 0),
            (0x4090_0000, 0x3f7f_efd4, 0),
            (0x3f0a_3d71, 0x3efc_68ec, 0),
            (0x3f0f_5c29, 0x3f02_0acf, 0),
            (0x40c0_0000, 0x3f7f_ff32, 0),
            (0x4100_0000, 0x3f7f_fffc, 0),
            (0x4110_0000, 0x3f7f_ffff, 0),
            (0xbe99_999a, 0xbe95_26ee, -1),
            (0xbf0c_cccd, 0xbf00_2218, 0),
            (0xc0e0_0000, 0xbf7f_ffe4, 0),
        ];
        check_f32(tanh_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_1268_8b70_e62b, 0x0000_1268_8b70_e62b, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8b5_88e0_6854, 0),
            (0x3fb9_9999_9999_999a, 0x3fb9_83d7_795f_413a, 0),
            (0x3fd0_0000_0000_0000, 0x3fcf_597e_a69a_1c86, 0),
            (0x3fe0_0000_0000_0000, 0x3fdd_9353_d756_8af3, 0),
            (0x3fe8_0000_0000_0000, 0x3fe4_5323_e552_f228, 0),
            (0x3fec_cccc_cccc_cccd, 0x3fe6_ebe9_82d6_605d, 0),
            (0x3ff0_0000_0000_0000, 0x3fe8_5efa_b514_f394, 0),
            (0x3ff8_0000_0000_0000, 0x3fec_f6f9_786d_f577, 0),
            (0x4000_0000_0000_0000, 0x3fee_d950_5e1b_c3d4, 0),
            (0x4008_0000_0000_0000, 0x3fef_d77d_111a_0b00, 0),
            (0x4012_0000_0000_0000, 0x3fef_fdfa_7215_3983, 0),
            (0x3fe1_47ae_147a_e148, 0x3fdf_8d1d_668c_4aa5, 0),
            (0x3fe1_eb85_1eb8_51ec, 0x3fe0_4159_e3ac_e145, 0),
            (0x4018_0000_0000_0000, 0x3fef_ffe6_3abe_253c, 0),
            (0x4028_0000_0000_0000, 0x3fef_ffff_fff5_9f7c, 0),
            (0x4032_8000_0000_0000, 0x3fef_ffff_ffff_fffe, 0),
            (0xbfd3_3333_3333_3333, 0xbfd2_a4dd_a7d9_14fa, 0),
            (0xbfe1_9999_9999_999a, 0xbfe0_0442_f641_9203, 1),
            (0xc01c_0000_0000_0000, 0xbfef_fffc_8327_50f2, 0),
        ];
        check_f64(tanh_f64, &rows);
    }
}
