//! `log1p`.

use super::log::{Argument, log_of};
use super::pair::{Pair, sum};
use super::steps::{Lane, Steps};

/// ln(1 + x), with what 1 + x rounds off as a correction.
#[inline]
pub fn log1p<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let one = b.value(B::Lane::ONE);
    let Pair { hi, lo } = sum(b, one, x);
    let correction = b.div(lo, hi);
    let argument = Argument {
        value: hi,
        correction,
        doublings: None,
    };
    let finite = log_of(b, argument);

    let (zero, nan) = (b.value(B::Lane::ZERO), b.value(B::Lane::NAN));
    let (infinity, neg_infinity) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NEG_INFINITY));
    let neg_one = b.value(B::Lane::NEG_ONE);
    let is_zero = b.eq(x, zero);
    let is_least = b.eq(x, neg_one);
    let is_above = b.lt(neg_one, x);
    let is_finite = b.lt(x, infinity);
    let above = b.select(is_finite, finite, x);
    let above = b.select(is_zero, x, above);
    let other = b.select(is_least, neg_infinity, nan);
    b.select(is_above, above, other)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{log1p_f32, log1p_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (-1.0, f64::NEG_INFINITY),
            (-1.5, f64::NAN),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(log1p_f32, log1p_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_1be0, 0x0000_1be0, 0),
            (0x3727_c5ac, 0x3727_c575, 0),
            (0x3c23_d70a, 0x3c23_06b6, 0),
            (0x3dcc_cccd, 0x3dc3_31fc, 0),
            (0x3e80_0000, 0x3e64_7fbe, 0),
            (0x3ea8_f5c3, 0x3e92_02fa, 0),
            (0x3eae_147b, 0x3e95_d8cb, 0),
            (0x3f00_0000, 0x3ecf_991f, 1),
            (0x3f40_0000, 0x3f0f_42fb, 0),
            (0x3f80_0000, 0x3f31_7218, 0),
            (0x3fd9_999a, 0x3f7e_45c0, 0),
            (0x4040_0000, 0x3fb1_7218, 0),
            (0x4120_0000, 0x4019_771e, 0),
            (0x4974_2400, 0x415d_0c56, 0),
            (0x5015_02f9, 0x41b8_34f1, 0),
            (0x7149_f2ca, 0x428a_27b5, 0),
            (0xb727_c5ac, 0xb727_c5e3, 0),
            (0xbdcc_cccd, 0xbdd7_c741, 0),
            (0xbe99_999a, 0xbeb6_9e1a, 0),
            (0xbeae_147b, 0xbed4_be71, 0),
            (0xbf00_0000, 0xbf31_7218, 0),
            (0xbf40_0000, 0xbfb1_7218, 0),
            (0xbf7d_70a4, 0xc093_5d90, 0),
            (0xbf7f_ff58, 0xc138_2f62, 0),
        ];
        check_f32(log1p_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x376b_e03d_0bf2_25c7, 0x376b_e03d_0bf2_25c7, 0),
            (0x3ee4_f8b5_88e3_68f1, 0x3ee4_f8ae_a9ae_7317, 0),
            (0x3f84_7ae1_47ae_147b, 0x3f84_60d6_ccca_3677, 0),
            (0x3fb9_9999_9999_999a, 0x3fb8_663f_793c_46c7, 0),
            (0x3fd0_0000_0000_0000, 0x3fcc_8ff7_c79a_9a22, 0),
            (0x3fd5_1eb8_51eb_851f, 0x3fd2_405f_2d99_b169, 0),
            (0x3fd5_c28f_5c28_f5c3, 0x3fd2_bb19_5520_355d, -1),
            (0x3fe0_0000_0000_0000, 0x3fd9_f323_ecbf_984c, 0),
            (0x3fe8_0000_0000_0000, 0x3fe1_e85f_5e70_40d0, 0),
            (0x3ff0_0000_0000_0000, 0x3fe6_2e42_fefa_39ef, 0),
            (0x3ffb_3333_3333_3333, 0x3fef_c8b7_f138_bde9, 0),
            (0x4008_0000_0000_0000, 0x3ff6_2e42_fefa_39ef, 0),
            (0x4024_0000_0000_0000, 0x4003_2ee3_b77f_374c, 0),
            (0x412e_8480_0000_0000, 0x402b_a18a_bb1d_edc8, 0),
            (0x4202_a05f_2000_0000, 0x4037_069e_2aa3_184e, 0),
            (0x4629_3e59_39a0_8cea, 0x4051_44f6_9ff9_ffc4, 0),
            (0xbee4_f8b5_88e3_68f1, 0xbee4_f8bc_681e_6006, 0),
            (0xbfb9_9999_9999_999a, 0xbfba_f8e8_210a_415e, 0),
            (0xbfd3_3333_3333_3333, 0xbfd6_d3c3_24e1_3f4e, 0),
            (0xbfd5_c28f_5c28_f5c3, 0xbfda_97ce_16b3_16f2, 0),
            (0xbfe0_0000_0000_0000, 0xbfe6_2e42_fefa_39ef, 0),
            (0xbfe8_0000_0000_0000, 0xbff6_2e42_fefa_39ef, 0),
            (0xbfef_ae14_7ae1_47ae, 0xc012_6bb1_bbb5_5515, -1),
            (0xbfef_ffeb_074a_771d, 0xc027_069e_2aa2_b45d, 0),
            (0x7e37_e43c_8800_759c, 0x4085_9634_47f8_7fb5, 0),
        ];
        check_f64(log1p_f64, &rows);
    }
}
