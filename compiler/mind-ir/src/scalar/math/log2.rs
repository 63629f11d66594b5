//! `log2`.

use super::log::{Split, split, tail, with_special};
use super::pair::{Pair, ordered_sum, product};
use super::steps::{Lane, Steps};

/// log2(x).
///
/// With x = 2^e (1 + f) as in `log`, the result is e + log2(e) (f + (ln(1 + f) - f)), where only the last sum
/// rounds the leading product. It is exact for powers of two.
#[inline]
pub fn log2<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let Split { e, f } = split(b, x);
    let (w, f2) = tail(b, f);
    let p = b.mul(f2, w);
    let (log2_e, log2_e_lo) = (
        b.value(B::Lane::EXP.log2_e),
        b.value(B::Lane::LOG.log2_e_lo),
    );
    let Pair { hi: t, lo: t_lo } = product(b, f, log2_e);
    let rest = b.fma(f, log2_e_lo, t_lo);
    let rest = b.fma(p, log2_e, rest);
    let Pair { hi, lo } = ordered_sum(b, e, t);
    let rest = b.add(rest, lo);
    let finite = b.add(hi, rest);
    with_special(b, x, finite)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{log2_f32, log2_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, f64::NEG_INFINITY),
            (-0.0, f64::NEG_INFINITY),
            (1.0, 0.0),
            (8.0, 3.0),
            (0.25, -2.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NAN),
            (-1.0, f64::NAN),
            (-1e-40, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(log2_f32, log2_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0xc304_e08c, 0),
            (0x1e3c_e508, 0xc284_e08b, 0),
            (0x3c23_d70a, 0xc0d4_9a78, 0),
            (0x3e99_999a, 0xbfde_54e3, 0),
            (0x3f28_f5c3, 0xbf19_7658, 0),
            (0x3f2b_851f, 0xbf13_e889, 0),
            (0x3f66_6666, 0xbe1b_a6b5, 0),
            (0x3f7d_70a4, 0xbc6d_8f8b, 0),
            (0x3f81_47ae, 0x3c6b_3268, 0),
            (0x3f8c_cccd, 0x3e0c_cdbb, 0),
            (0x3fa6_6666, 0x3ec1_cc45, -1),
            (0x3fab_851f, 0x3ed8_2eee, 0),
            (0x3fc0_0000, 0x3f15_c01a, 0),
            (0x4020_0000, 0x3fa9_34f1, 0),
            (0x4040_0000, 0x3fca_e00d, 0),
            (0x4120_0000, 0x4054_9a78, 0),
            (0x447a_0000, 0x411f_73da, 0),
            (0x5015_02f9, 0x4204_e08b, 0),
            (0x7149_f2ca, 0x42c7_50d1, 0),
        ];
        check_f32(log2_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x37a1_6c26_2777_579c, 0xc060_9c11_65ec_0627, 0),
            (0x3bc7_9ca1_0c92_4223, 0xc050_9c11_65ec_0627, 0),
            (0x3f84_7ae1_47ae_147b, 0xc01a_934f_0979_a371, 0),
            (0x3fd3_3333_3333_3333, 0xbffb_ca9c_6f53_897b, -1),
            (0x3fe5_1eb8_51eb_851f, 0xbfe3_2ecb_1474_2bb2, 0),
            (0x3fe5_70a3_d70a_3d71, 0xbfe2_7d11_37d8_c797, 0),
            (0x3fec_cccc_cccc_cccd, 0xbfc3_74d6_5d9e_608d, 0),
            (0x3fef_ae14_7ae1_47ae, 0xbf8d_b1f3_4d2c_386d, 0),
            (0x3ff0_28f5_c28f_5c29, 0x3f8d_664e_cee3_5b7f, 0),
            (0x3ff1_9999_9999_999a, 0x3fc1_99b7_28cb_9d0c, 0),
            (0x3ff4_cccc_cccc_cccd, 0x3fd8_3988_d0c1_f60d, 1),
            (0x3ff5_70a3_d70a_3d71, 0x3fdb_05dd_904e_70d2, 0),
            (0x3ff8_0000_0000_0000, 0x3fe2_b803_473f_7ad1, 0),
            (0x4004_0000_0000_0000, 0x3ff5_269e_12f3_46e3, 0),
            (0x4008_0000_0000_0000, 0x3ff9_5c01_a39f_bd68, 0),
            (0x4024_0000_0000_0000, 0x400a_934f_0979_a371, 0),
            (0x408f_4000_0000_0000, 0x4023_ee7b_471b_3a95, 0),
            (0x4202_a05f_2000_0000, 0x4040_9c11_65ec_0627, 0),
            (0x4629_3e59_39a0_8cea, 0x4058_ea1a_18e2_093a, 0),
            (0x0000_1268_8b70_e62b, 0xc090_1730_dabc_a5f6, 0),
            (0x7e37_e43c_8800_759c, 0x408f_24a0_9f1a_8b89, 0),
        ];
        check_f64(log2_f64, &rows);
    }
}
