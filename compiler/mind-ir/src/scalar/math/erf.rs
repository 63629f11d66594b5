//! `erf`.

use super::exp::{expm1_reduced, power_of_two};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// erf(x), the integral of 2/sqrt(pi) e^(-t^2) for t from 0 to x.
///
/// Below `middle` an odd polynomial, from there on 1 - e^t with a polynomial t.
#[inline]
pub fn erf<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::ERF;
    let (a, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    let a2 = b.mul(a, a);
    let small = horner(b, a2, c.small);
    let small = b.fma(small, a, a);

    let t = horner(b, a, c.tail);
    let (log2_e, round) = (b.value(B::Lane::EXP.log2_e), b.value(c.round_negated));
    let k = b.fma(t, log2_e, round);
    let n = b.sub(k, round);
    // One constant for ln(2) is enough: where n is large, e^t is small.
    let neg_ln2 = b.value(B::Lane::EXP.neg_ln2_hi);
    let r = b.fma(n, neg_ln2, t);
    let q = expm1_reduced(b, r);
    let neg_power = power_of_two(b, k);
    let one = b.value(B::Lane::ONE);
    let large = b.add(one, neg_power);
    let large = b.fma(q, neg_power, large);

    let middle = b.value(c.middle);
    let is_small = b.lt(a, middle);
    let result = b.select(is_small, small, large);
    join_sign(b, result, sign)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bounded, check_f32, check_f64, check_odd, check_special};
    use super::super::{erf_f32, erf_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, -1.0),
            (6.0, 1.0),
            (-6.0, -1.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(erf_f32, erf_f64, &rows);
    }

    #[test]
    fn odd_and_bounded() {
        check_odd(erf_f32, erf_f64);
        check_bounded(erf_f32, erf_f64);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0x0001_3a8b, 0),
            (0x3727_c5ac, 0x373d_4f84, 0),
            (0x3dcc_cccd, 0x3de6_52f5, 0),
            (0x3e80_0000, 0x3e8d_7aa7, 0),
            (0x3f00_0000, 0x3f05_3f7b, 0),
            (0x3f40_0000, 0x3f36_0e4c, 0),
            (0x3f66_6666, 0x3f4c_022d, 0),
            (0x3f80_0000, 0x3f57_bb3d, 0),
            (0x3fc0_0000, 0x3f77_52ab, -1),
            (0x4000_0000, 0x3f7e_cd71, -1),
            (0x4040_0000, 0x3f7f_fe8d, 1),
            (0x3f68_f5c3, 0x3f4d_4832, 0),
            (0x4060_0000, 0x3f7f_fff4, 0),
            (0x4079_999a, 0x3f7f_ffff, 1),
            (0xbe99_999a, 0xbea8_41c5, 0),
            (0xbf73_3333, 0xbf52_25e6, 0),
            (0xc020_0000, 0xbf7f_e554, 1),
        ];
        check_f32(erf_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_1268_8b70_e62b, 0x0000_14c5_8989_77c4, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee7_a9f0_84b5_e44c, 0),
            (0x3fb9_9999_9999_999a, 0x3fbc_ca5e_a24f_b334, 0),
            (0x3fd0_0000_0000_0000, 0x3fd1_af54_e232_d609, -1),
            (0x3fe0_0000_0000_0000, 0x3fe0_a7ef_5c18_edd2, 0),
            (0x3fe8_0000_0000_0000, 0x3fe6_c1c9_759d_0e5f, 0),
            (0x3fec_cccc_cccc_cccd, 0x3fe9_8045_a6c8_a2e6, 0),
            (0x3ff0_0000_0000_0000, 0x3fea_f767_a741_088b, 0),
            (0x3ff8_0000_0000_0000, 0x3fee_ea55_5713_7ae0, 0),
            (0x4000_0000_0000_0000, 0x3fef_d9ae_1427_95e3, 0),
            (0x4008_0000_0000_0000, 0x3fef_ffd1_ac41_35f9, 0),
            (0x4012_0000_0000_0000, 0x3fef_ffff_ffe4_fa30, 0),
            (0x3ff0_28f5_c28f_5c29, 0x3feb_1912_5366_b828, -1),
            (0x400c_0000_0000_0000, 0x3fef_fffe_710d_565e, 0),
            (0x4016_0000_0000_0000, 0x3fef_ffff_ffff_ffbe, 0),
            (0xbfd3_3333_3333_3333, 0xbfd5_0838_881d_ea0f, 0),
            (0xbfee_6666_6666_6666, 0xbfea_44bc_cc5a_6cb0, 0),
            (0xc004_0000_0000_0000, 0xbfef_fcaa_8f4c_9bea, 0),
        ];
        check_f64(erf_f64, &rows);
    }
}
