//! `gelu`.

use super::exp::{PowerOfTwo, expm1_reduced, nearest_power};
use super::steps::{Lane, Steps, horner, split_sign};

/// x (1 + erf(x / sqrt(2))) / 2; -0 at negative infinity, the limit.
///
/// With a = |x| and Q(a) = erfc(a / sqrt(2)) / 2 = e^(-a^2/2) R(a), the result is max(x, 0) - a
/// Q(a). Nothing cancels as Q <= 1/2, and a Q(a) is accurate relative to itself, however small:
/// what the main steps round off is carried along in the values named `_lo`.
#[inline]
pub fn gelu<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::GELU;
    let (a, _) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    // v + v_lo = a / (a + k); d_lo is what the sum rounds off.
    let (one, k) = (b.value(B::Lane::ONE), b.value(c.k));
    let d = b.add(a, k);
    let a_rounded = b.sub(d, k);
    let d_lo = b.sub(a, a_rounded);
    let inverse = b.div(one, d);
    let v = b.mul(a, inverse);
    let neg_v = b.neg(v);
    let rest = b.fma(neg_v, d, a);
    let rest = b.fma(neg_v, d_lo, rest);
    let v_lo = b.mul(rest, inverse);

    // f + f_lo = (a + k) R(a), the last step of Horner's rule without its rounding.
    let (two, neg_one) = (b.value(B::Lane::TWO), b.value(B::Lane::NEG_ONE));
    let t = b.fma(v, two, neg_one);
    let t = b.fma(v_lo, two, t);
    let constant = b.value(c.poly[0]);
    let p = horner(b, t, &c.poly[1..]);
    let f = b.fma(p, t, constant);
    let f_lo = b.sub(constant, f);
    let f_lo = b.fma(p, t, f_lo);

    // y + y_lo = (v + v_lo) (f + f_lo) = a R(a).
    let y = b.mul(v, f);
    let neg_y = b.neg(y);
    let y_lo = b.fma(v, f, neg_y);
    let y_lo = b.fma(v, f_lo, y_lo);
    let y_lo = b.fma(v_lo, f, y_lo);

    // 2^n (1 + q) = e^(-a^2/2), with the square to twice the precision.
    let neg_half = b.value(B::Lane::NEG_HALF);
    let half_a = b.mul(a, neg_half);
    let square = b.mul(half_a, a);
    let neg_square = b.neg(square);
    let square_lo = b.fma(half_a, a, neg_square);
    let PowerOfTwo { n, first, second } = nearest_power(b, square);
    let (hi, lo) = (
        b.value(B::Lane::EXP.neg_ln2_hi),
        b.value(B::Lane::EXP.neg_ln2_lo),
    );
    let r = b.fma(n, hi, square);
    let r_lo = b.fma(n, lo, square_lo);
    let r = b.add(r, r_lo);
    let q = expm1_reduced(b, r);

    let tail_lo = b.fma(y_lo, q, y_lo);
    let tail_lo = b.fma(y, q, tail_lo);
    let tail = b.add(y, tail_lo);
    let tail = b.mul(tail, first);
    let tail = b.mul(tail, second);

    let neg_zero = b.value(B::Lane::NEG_ZERO);
    let positive = b.max(neg_zero, x);
    b.sub(positive, tail)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{gelu_f32, gelu_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, -0.0),
            (2_f64.powi(100), 2_f64.powi(100)),
            (-2_f64.powi(100), -0.0),
            (f64::NAN, f64::NAN),
        ];
        check_special(gelu_f32, gelu_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0001_16c2, 0x0000_8b61, 1),
            (0x3727_c5ac, 0x36a7_c604, -1),
            (0x3dcc_cccd, 0x3d5d_1d0d, 0),
            (0x3e80_0000, 0x3e19_44d1, 1),
            (0x3f00_0000, 0x3eb1_03af, 0),
            (0x3f40_0000, 0x3f14_7cd0, 0),
            (0x3f66_6666, 0x3f3b_fe17, 0),
            (0x3f80_0000, 0x3f57_625f, -1),
            (0x3fc0_0000, 0x3fb3_2c4b, 0),
            (0x4000_0000, 0x3ffa_2d0c, 0),
            (0x4040_0000, 0x403f_bda6, 0),
            (0x4090_0000, 0x408f_ffe0, 0),
            (0x40b0_0000, 0x40b0_0000, 0),
            (0x41a0_0000, 0x41a0_0000, 0),
            (0x8001_16c2, 0x8000_8b61, -1),
            (0xb727_c5ac, 0xb6a7_c554, 1),
            (0xbdcc_cccd, 0xbd3c_7c8d, 0),
            (0xbf40_0000, 0xbe2e_0cc0, 0),
            (0xbff3_3333, 0xbd5f_7bd8, 0),
            (0xc059_999a, 0xba96_2696, 0),
            (0xc0a0_0000, 0xb5c0_5e5d, 0),
            (0xc100_0000, 0xa7b3_4e96, 0),
            (0xc140_0000, 0x8add_6065, 0),
            (0xc150_0000, 0x81d8_7b8a, 0),
            (0xc158_0000, 0x8001_263e, 0),
            (0xc160_0000, 0x8000_004e, 0),
        ];
        check_f32(gelu_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_1268_8b70_e62b, 0x0000_0934_45b8_7316, -1),
            (0x3ee4_f8b5_88e3_68f1, 0x3ed4_f8c0_8031_ee9b, 0),
            (0x3fb9_9999_9999_999a, 0x3fab_a3a1_a550_a71c, 0),
            (0x3fd0_0000_0000_0000, 0x3fc3_289a_2b16_ed6c, 0),
            (0x3fe0_0000_0000_0000, 0x3fd6_2075_e232_ac77, 0),
            (0x3fe8_0000_0000_0000, 0x3fe2_8f99_fefb_e511, 1),
            (0x3fec_cccc_cccc_cccd, 0x3fe7_7fc2_f22d_931a, 0),
            (0x3ff0_0000_0000_0000, 0x3fea_ec4b_d120_d37d, 0),
            (0x3ff8_0000_0000_0000, 0x3ff6_6589_5bb1_e942, 0),
            (0x4000_0000_0000_0000, 0x3fff_45a1_83e9_b13d, 0),
            (0x4008_0000_0000_0000, 0x4007_f7b4_cb42_6ddc, 0),
            (0x4012_0000_0000_0000, 0x4011_fffb_fdef_e40e, 0),
            (0x4016_0000_0000_0000, 0x4015_ffff_f8fd_b09e, 0),
            (0x4034_0000_0000_0000, 0x4034_0000_0000_0000, 0),
            (0x8000_1268_8b70_e62b, 0x8000_0934_45b8_7316, 0),
            (0xbee4_f8b5_88e3_68f1, 0xbed4_f8aa_9194_e347, 0),
            (0xbfb9_9999_9999_999a, 0xbfa7_8f91_8de2_8c18, 0),
            (0xbfe8_0000_0000_0000, 0xbfc5_c198_0410_6bba, 0),
            (0xbff6_6666_6666_6666, 0xbfbc_f174_ae7b_0687, -1),
            (0xc00b_3333_3333_3333, 0xbf52_c4d3_268c_1b95, 0),
            (0xc014_0000_0000_0000, 0xbeb8_0bcb_ae98_063d, 0),
            (0xc028_0000_0000_0000, 0xb95b_ac0c_9d19_9355, 1),
            (0xc03e_0000_0000_0000, 0x9746_01c5_2358_b95d, 0),
            (0xc042_cccc_cccc_cccd, 0x801d_0f5c_1d3f_f2af, -1),
            (0xc043_0000_0000_0000, 0x8000_0000_8447_4d57, 0),
            (0xc043_3333_3333_3333, 0x8000_0000_0000_0201, 0),
        ];
        check_f64(gelu_f64, &rows);
    }
}
