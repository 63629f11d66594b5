//! `pow`.

use super::exp::{clamp, two_factors};
use super::log::{Split, split};
use super::pair::{Pair, ordered_sum, product, sum};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// x^y as IEEE 754 has it.
///
/// The exponents 1, 2, -1 and 1/2 give x, x x, 1 / x and the square root, so that a rewrite between them is exact; the
/// root of -0 is +0 here, and that of -inf is inf.
#[inline]
pub fn pow<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> B::Value {
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let (infinity, neg_infinity) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NEG_INFINITY));
    let nan = b.value(B::Lane::NAN);
    let (a, sign) = split_sign(b, x);
    let inverse = b.div(one, x);

    let size = of_magnitude(b, a, y);
    // A zero or an infinity gives itself or its inverse.
    let falls = b.lt(y, zero);
    let (inverse_size, _) = split_sign(b, inverse);
    let extreme = b.select(falls, inverse_size, a);
    let is_zero = b.eq(a, zero);
    let is_infinite = b.eq(a, infinity);
    let size = b.select(is_zero, extreme, size);
    let size = b.select(is_infinite, extreme, size);

    let half = b.value(B::Lane::HALF);
    let halved = b.mul(y, half);
    let (whole_half, whole) = (b.round(halved), b.round(y));
    let is_even = b.eq(halved, whole_half);
    let is_integer = b.eq(y, whole);
    let signed = join_sign(b, size, sign);
    let is_below = b.lt(x, zero);
    let is_least = b.eq(x, neg_infinity);
    let fraction = b.select(is_below, nan, size);
    let fraction = b.select(is_least, size, fraction);
    let result = b.select(is_integer, signed, fraction);
    let result = b.select(is_even, size, result);
    // NaN is not equal to itself.
    let (is_x, is_y) = (b.eq(x, x), b.eq(y, y));
    let result = b.select(is_x, result, x);
    let result = b.select(is_y, result, y);

    let (two, neg_one) = (b.value(B::Lane::TWO), b.value(B::Lane::NEG_ONE));
    let square = b.mul(x, x);
    let root = b.sqrt(x);
    let root = b.add(root, zero);
    let root = b.select(is_least, infinity, root);
    let mut exactly = |exponent: B::Value, value: B::Value, result: B::Value| {
        let is_it = b.eq(y, exponent);
        b.select(is_it, value, result)
    };
    let result = exactly(one, x, result);
    let result = exactly(two, square, result);
    let result = exactly(neg_one, inverse, result);
    let result = exactly(half, root, result);
    let result = exactly(zero, one, result);
    let is_one = b.eq(x, one);
    b.select(is_one, one, result)
}

/// a^y for a positive finite `a`, as 2 to the product of y and log2(a).
#[inline]
fn of_magnitude<B: Steps>(b: &mut B, a: B::Value, y: B::Value) -> B::Value {
    let c = B::Lane::POW;
    let log = log2(b, a);
    // No logarithm but 0 is so small that a larger exponent makes a difference.
    let y = clamp(b, y, c.least_exponent, c.largest_exponent);
    let Pair { hi, lo } = product(b, y, log.hi);
    let lo = b.fma(y, log.lo, lo);

    let limits = B::Lane::EXP2;
    let limited = clamp(b, hi, limits.lowest, limits.highest);
    let zero = b.value(B::Lane::ZERO);
    let is_within = b.eq(hi, limited);
    let lo = b.select(is_within, lo, zero);

    // 2^(n + r) = 2^n e^(t + t_lo).
    let round = b.value(B::Lane::EXP.round_twice);
    let k = b.add(limited, round);
    let power = two_factors(b, k);
    let r = b.sub(limited, power.n);
    let Pair { hi: r, lo } = sum(b, r, lo);
    let (ln2, neg_ln2_lo) = (b.value(B::Lane::LOG.ln2), b.value(B::Lane::EXP.neg_ln2_lo));
    let Pair { hi: t, lo: t_lo } = product(b, r, ln2);
    let neg_r = b.neg(r);
    let t_lo = b.fma(neg_r, neg_ln2_lo, t_lo);
    let t_lo = b.fma(lo, ln2, t_lo);
    let w = horner(b, t, B::Lane::EXP.poly);
    let square = b.mul(t, t);
    let rest = b.fma(t_lo, t, t_lo);
    let rest = b.fma(square, w, rest);
    let one = b.value(B::Lane::ONE);
    let Pair { hi, lo } = ordered_sum(b, one, t);
    let rest = b.add(rest, lo);
    let result = b.add(hi, rest);
    let scaled = b.mul(result, power.first);
    b.mul(scaled, power.second)
}

/// log2(x) of a positive finite number, to some 11 bits more than a number has, relative to itself.
///
/// With x = 2^e (1 + f) as in `log` and s = f / (2 + f), it is e + 2/ln(2) (s + s^3/3 + s^5 Q(s^2)), where only the last
/// term is rounded on its way.
#[inline]
fn log2<B: Steps>(b: &mut B, x: B::Value) -> Pair<B::Value> {
    let c = B::Lane::POW;
    let Split { e, f } = split(b, x);
    let (one, two) = (b.value(B::Lane::ONE), b.value(B::Lane::TWO));
    let below = ordered_sum(b, two, f);
    let inverse = b.div(one, below.hi);
    let s = b.mul(f, inverse);
    let neg_s = b.neg(s);
    let rest = b.fma(neg_s, below.hi, f);
    let rest = b.fma(neg_s, below.lo, rest);
    let s_lo = b.mul(rest, inverse);

    // z = s^2, cube = s^3.
    let z = product(b, s, s);
    let twice = b.add(s, s);
    let z_lo = b.fma(twice, s_lo, z.lo);
    let cube = product(b, z.hi, s);
    let cube_lo = b.fma(z_lo, s, cube.lo);
    let cube_lo = b.fma(z.hi, s_lo, cube_lo);
    let (third, third_lo) = (b.value(c.third), b.value(c.third_lo));
    let term = product(b, cube.hi, third);
    let term_lo = b.fma(cube.hi, third_lo, term.lo);
    let term_lo = b.fma(cube_lo, third, term_lo);
    let fifth = b.mul(cube.hi, z.hi);
    let q = horner(b, z.hi, c.poly);
    let term_lo = b.fma(fifth, q, term_lo);

    let Pair { hi, lo } = ordered_sum(b, s, term.hi);
    let rest = b.add(s_lo, term_lo);
    let lo = b.add(lo, rest);
    let (factor, factor_lo) = (b.value(c.two_over_ln2), b.value(c.two_over_ln2_lo));
    let scaled = product(b, hi, factor);
    let scaled_lo = b.fma(hi, factor_lo, scaled.lo);
    let scaled_lo = b.fma(lo, factor, scaled_lo);
    let Pair { hi, lo } = ordered_sum(b, e, scaled.hi);
    let lo = b.add(lo, scaled_lo);
    ordered_sum(b, hi, lo)
}

#[cfg(test)]
mod tests {
    use super::super::{pow_f32, pow_f64};

    /// Inputs, the correctly rounded result, and the distance from there in ulps.
    #[test]
    fn bits_in_f32() {
        let rows: [(u32, u32, u32, i32); 16] = [
            (0x3f66_6666, 0x442f_0000, 0x0a41_b797, 0),
            (0x3f66_6666, 0x3fc0_0000, 0x3f5a_939e, 0),
            (0x3ee6_6666, 0x42da_6666, 0x0093_297a, 0),
            (0x3f8c_cccd, 0x43fa_0000, 0x61d7_88ee, 0),
            (0x3fa6_6666, 0x4396_0000, 0x783b_daba, 0),
            (0x4000_0000, 0x42c9_0000, 0x71b5_04f3, 0),
            (0x4000_0000, 0xc2fb_0000, 0x00b5_04f3, 0),
            (0x4040_0000, 0xc296_0000, 0x040b_db7c, 0),
            (0x4040_0000, 0x4296_0000, 0x7aea_4bbc, 0),
            (0x0001_16c2, 0x3e80_0000, 0x2edb_e6eb, 0),
            (0x3f80_0001, 0x4cbe_bc20, 0x4812_db49, 0),
            (0x40e0_0000, 0x3eaa_a64c, 0x3ff4_d6dd, 0),
            (0xc040_0000, 0x40a0_0000, 0xc373_0000, 0),
            (0xc040_0000, 0xc080_0000, 0x3c4a_4588, 0),
            (0x7149_f2ca, 0xbfa0_0000, 0x012c_2bb8, 0),
            (0x3a83_126f, 0x4158_0000, 0x0000_5827, 0),
        ];
        for (x, y, rounded, distance) in rows {
            let found = pow_f32(f32::from_bits(x), f32::from_bits(y)).to_bits();
            let expected = rounded.wrapping_add_signed(distance);
            assert_eq!(found, expected, "{x:#x}, {y:#x}: {found:#x}");
        }
    }

    /// Inputs, the correctly rounded result, and the distance from there in ulps.
    #[test]
    fn bits_in_f64() {
        let rows: [(u64, u64, u64, i64); 16] = [
            (
                0x3fec_cccc_cccc_cccd,
                0x4085_e000_0000_0000,
                0x3948_3710_4798_badb,
                0,
            ),
            (
                0x3fec_cccc_cccc_cccd,
                0x3ff8_0000_0000_0000,
                0x3feb_5273_c4ae_62a1,
                0,
            ),
            (
                0x3fdc_cccc_cccc_cccd,
                0x405b_4ccc_cccc_cccd,
                0x3812_652f_c984_e176,
                0,
            ),
            (
                0x3ff1_9999_9999_999a,
                0x407f_4000_0000_0000,
                0x443a_f10a_8dca_bcd0,
                0,
            ),
            (
                0x3ff4_cccc_cccc_cccd,
                0x4072_c000_0000_0000,
                0x4707_7b68_2eb0_2c0d,
                0,
            ),
            (
                0x4000_0000_0000_0000,
                0x4059_2000_0000_0000,
                0x4636_a09e_667f_3bcd,
                0,
            ),
            (
                0x4000_0000_0000_0000,
                0xc05f_6000_0000_0000,
                0x3816_a09e_667f_3bcd,
                0,
            ),
            (
                0x4008_0000_0000_0000,
                0xc052_c000_0000_0000,
                0x3881_7b6f_8e2f_3785,
                0,
            ),
            (
                0x4008_0000_0000_0000,
                0x4052_c000_0000_0000,
                0x475d_4977_8e1a_1974,
                0,
            ),
            (
                0x37a1_6c26_2777_579c,
                0x3fd0_0000_0000_0000,
                0x3ddb_7cdf_d9d7_bdbb,
                0,
            ),
            (
                0x3ff0_0000_1ad7_f29b,
                0x4197_d784_0000_0000,
                0x40d5_829d_1d3f_9926,
                0,
            ),
            (
                0x401c_0000_0000_0000,
                0x3fd5_54c9_85f0_6f69,
                0x3ffe_9adb_a005_d036,
                0,
            ),
            (
                0xc008_0000_0000_0000,
                0x4014_0000_0000_0000,
                0xc06e_6000_0000_0000,
                0,
            ),
            (
                0xc008_0000_0000_0000,
                0xc010_0000_0000_0000,
                0x3f89_48b0_fcd6_e9e0,
                0,
            ),
            (
                0x4629_3e59_39a0_8cea,
                0xbff4_0000_0000_0000,
                0x3825_8576_f788_9ed6,
                0,
            ),
            (
                0x3f50_624d_d2f1_a9fc,
                0x402b_0000_0000_0000,
                0x3786_09b1_1e3e_134c,
                0,
            ),
        ];
        for (x, y, rounded, distance) in rows {
            let found = pow_f64(f64::from_bits(x), f64::from_bits(y)).to_bits();
            let expected = rounded.wrapping_add_signed(distance);
            assert_eq!(found, expected, "{x:#x}, {y:#x}: {found:#x}");
        }
    }
}
