//! `log`.

use super::pair::{Pair, ordered_sum};
use super::steps::{Lane, Steps, horner};

/// ln(x).
///
/// With x = 2^e (1 + f) and |f| <= 1/3, the result is e ln(2) + ln(1 + f).
#[inline]
pub fn log<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let Split { e, f } = split(b, x);
    let (w, f2) = tail(b, f);
    let log1p = b.fma(f2, w, f);
    let ln2 = b.value(B::Lane::LOG.ln2);
    let finite = b.fma(e, ln2, log1p);
    with_special(b, x, finite)
}

/// A positive number as 2^e (1 + f) with |f| <= 1/3.
pub(super) struct Split<V> {
    pub e: V,
    pub f: V,
}

/// The parts of a positive finite number.
#[inline]
pub(super) fn split<B: Steps>(b: &mut B, x: B::Value) -> Split<B::Value> {
    let c = B::Lane::LOG;
    let (normal, scale) = (b.value(c.normal), b.value(c.scale));
    let (bias, scaled_bias) = (b.value(c.bias), b.value(c.scaled_bias));
    let subnormal = b.lt(x, normal);
    let scaled = b.mul(x, scale);
    let y = b.select(subnormal, scaled, x);
    let bias = b.select(subnormal, scaled_bias, bias);
    split_normal(b, y, bias)
}

/// The parts of a positive normal number; `bias` is taken from its biased exponent plus 2^MANTISSA.
#[inline]
fn split_normal<B: Steps>(b: &mut B, y: B::Value, bias: B::Value) -> Split<B::Value> {
    let c = B::Lane::LOG;
    // With the offset added, the exponent changes at `lowest` instead of at 1.
    let (lowest, offset) = (b.int(c.lowest), b.int(c.offset));
    let (mantissa, integer) = (b.int(c.mantissa), b.int(c.integer));
    let y = b.bits(y);
    let y = b.iadd(y, offset);
    let e = b.shr(y, B::Lane::MANTISSA);
    let e = b.or(e, integer);
    let e = b.float(e);
    let e = b.sub(e, bias);
    let m = b.and(y, mantissa);
    let m = b.iadd(m, lowest);
    let m = b.float(m);

    let one = b.value(B::Lane::ONE);
    Split {
        e,
        f: b.sub(m, one),
    }
}

/// w and f^2 with ln(1 + f) = f + f^2 w.
#[inline]
pub(super) fn tail<B: Steps>(b: &mut B, f: B::Value) -> (B::Value, B::Value) {
    let w = horner(b, f, B::Lane::LOG.poly);
    let f2 = b.mul(f, f);
    (w, f2)
}

/// The logarithm of `x` to any base, from what it is if `x` is positive and finite.
#[inline]
pub(super) fn with_special<B: Steps>(b: &mut B, x: B::Value, finite: B::Value) -> B::Value {
    let (zero, nan) = (b.value(B::Lane::ZERO), b.value(B::Lane::NAN));
    let (infinity, neg_infinity) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NEG_INFINITY));
    let is_zero = b.eq(x, zero);
    let is_positive = b.lt(zero, x);
    let is_finite = b.lt(x, infinity);
    let other = b.select(is_zero, neg_infinity, nan);
    let positive = b.select(is_finite, finite, x);
    b.select(is_positive, positive, other)
}

/// The argument of a logarithm, to more than the precision of a number: 2^`doublings` `value` (1 + `correction`).
pub(super) struct Argument<V> {
    /// A positive normal number.
    pub value: V,
    /// Small enough that its square is rounded off.
    pub correction: V,
    /// An integer; `None` is 0.
    pub doublings: Option<V>,
}

/// ln(x), with hardly more than its last rounding, also where the result is small.
#[inline]
pub(super) fn log_of<B: Steps>(b: &mut B, x: Argument<B::Value>) -> B::Value {
    let c = B::Lane::LOG;
    let bias = b.value(c.bias);
    let Split { mut e, f } = split_normal(b, x.value, bias);
    if let Some(doublings) = x.doublings {
        e = b.add(e, doublings);
    }
    let (w, f2) = tail(b, f);
    let rest = b.fma(f2, w, x.correction);
    let (ln2_hi, ln2_lo) = (b.value(c.ln2_hi), b.value(c.ln2_lo));
    let rest = b.fma(e, ln2_lo, rest);
    let exponent = b.mul(e, ln2_hi);
    let Pair { hi, lo } = ordered_sum(b, exponent, f);
    let rest = b.add(rest, lo);
    b.add(hi, rest)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_f32, check_f64, check_special};
    use super::super::{log_f32, log_f64};

    #[test]
    fn special_values() {
        let rows = [
            (0.0, f64::NEG_INFINITY),
            (-0.0, f64::NEG_INFINITY),
            (1.0, 0.0),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NAN),
            (-1.0, f64::NAN),
            (-1e-40, f64::NAN),
            (f64::NAN, f64::NAN),
        ];
        check_special(log_f32, log_f64, &rows);
    }

    #[test]
    fn bits_in_f32() {
        let rows = [
            (0x0000_0001, 0xc2ce_8ed0, 0),
            (0x0001_16c2, 0xc2b8_34f2, 0),
            (0x0da2_4260, 0xc28a_27b5, 0),
            (0x3727_c5ac, 0xc138_34f1, 0),
            (0x3dcc_cccd, 0xc013_5d8e, 0),
            (0x3e80_0000, 0xbfb1_7218, 0),
            (0x3f00_0000, 0xbf31_7218, 0),
            (0x3f40_0000, 0xbe93_4b11, -1),
            (0x3f66_6666, 0xbdd7_c745, -1),
            (0x3f80_0000, 0x0000_0000, 0),
            (0x3fc0_0000, 0x3ecf_991f, 1),
            (0x4000_0000, 0x3f31_7218, 0),
            (0x4040_0000, 0x3f8c_9f54, 0),
            (0x4090_0000, 0x3fc0_859c, 0),
            (0x3f28_f5c3, 0xbed4_be6f, 1),
            (0x3f2b_851f, 0xbecd_0b64, 0),
            (0x3f7f_be77, 0xba83_22ca, 0),
            (0x3f80_20c5, 0x3a83_033b, 0),
            (0x3faa_3d71, 0x3e92_02fb, 0),
            (0x3fab_851f, 0x3e95_d8cb, 1),
            (0x4120_0000, 0x4013_5d8e, 0),
            (0x47c3_5000, 0x4138_34f1, 0),
            (0x7149_f2ca, 0x428a_27b5, 0),
            (0x7f61_b1e6, 0x42b1_3196, 0),
        ];
        check_f32(log_f32, &rows);
    }

    #[test]
    fn bits_in_f64() {
        let rows = [
            (0x0000_0000_0000_0001, 0xc087_4385_446d_71c3, 0),
            (0x0000_1268_8b70_e62b, 0xc086_4e69_394d_9508, 0),
            (0x01a5_6e1f_c2f8_f359, 0xc085_9634_47f8_7fb5, 0),
            (0x3ee4_f8b5_88e3_68f1, 0xc027_069e_2aa2_aa5b, 0),
            (0x3fb9_9999_9999_999a, 0xc002_6bb1_bbb5_5515, 0),
            (0x3fd0_0000_0000_0000, 0xbff6_2e42_fefa_39ef, 0),
            (0x3fe0_0000_0000_0000, 0xbfe6_2e42_fefa_39ef, 0),
            (0x3fe8_0000_0000_0000, 0xbfd2_6962_1134_db92, 0),
            (0x3fec_cccc_cccc_cccd, 0xbfba_f8e8_210a_415c, 0),
            (0x3ff0_0000_0000_0000, 0x0000_0000_0000_0000, 0),
            (0x3ff8_0000_0000_0000, 0x3fd9_f323_ecbf_984c, 0),
            (0x4000_0000_0000_0000, 0x3fe6_2e42_fefa_39ef, 0),
            (0x4008_0000_0000_0000, 0x3ff1_93ea_7aad_030b, -1),
            (0x4012_0000_0000_0000, 0x3ff8_10b3_75dc_e91e, -1),
            (0x3fe5_1eb8_51eb_851f, 0xbfda_97ce_16b3_16f1, -1),
            (0x3fe5_70a3_d70a_3d71, 0xbfd9_a16c_a8d4_3e81, 0),
            (0x3fef_f7ce_d916_872b, 0xbf50_6467_0d97_9b73, 0),
            (0x3ff0_0418_9374_bc6a, 0x3f50_6035_4f8c_3cc4, 0),
            (0x3ff5_47ae_147a_e148, 0x3fd2_405f_2d99_b16a, 0),
            (0x3ff5_70a3_d70a_3d71, 0x3fd2_bb19_5520_355d, 0),
            (0x4024_0000_0000_0000, 0x4002_6bb1_bbb5_5516, -1),
            (0x40f8_6a00_0000_0000, 0x4027_069e_2aa2_aa5b, 0),
            (0x7e37_e43c_8800_759c, 0x4085_9634_47f8_7fb5, 0),
            (0x7fee_42d1_3077_3b76, 0x4086_2dd0_8fdc_6f88, 0),
        ];
        check_f64(log_f64, &rows);
    }
}
