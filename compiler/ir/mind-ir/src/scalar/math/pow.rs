//! `pow`.

use super::exp::{clamp, power_from};
use super::log::{Split, split};
use super::pair::{Pair, ordered_sum, product, sum};
use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// x^y as specified by IEEE 754.
///
/// The exponents 1, 2, -1 and 1/2 give exactly x, x x, 1 / x and the square root, so that rewrites between these are
/// exact; the power 1/2 of -0 is +0, and that of -inf is inf.
#[inline]
pub fn pow<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> B::Value {
    let (a, sign) = split_sign(b, x);
    let size = of_magnitude(b, a, y);
    let is_special = is_special(b, x, y);
    let [result] = b.if_any(is_special, [size], |b| {
        [with_special(b, [x, y], a, sign, size)]
    });
    result
}

/// Returns whether x is not a positive normal number, y is one of the exact exponents, or either is NaN.
#[inline]
fn is_special<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> B::Mask {
    let (least, largest) = (b.value(B::Lane::LOG.normal), b.value(B::Lane::LARGEST));
    let is_nan = b.unordered(x, y);
    let (is_below, is_beyond) = (b.lt(x, least), b.lt(largest, x));
    // The exact exponents are among the halves of the integers from -2 to 4.
    let c = B::Lane::POW;
    let doubled = b.add(y, y);
    let limited = clamp(b, doubled, c.least_double, c.largest_double);
    let whole = b.round(limited);
    let is_exact = b.eq(whole, doubled);
    let is_range = b.either(is_below, is_beyond);
    let is_other = b.either(is_nan, is_exact);
    b.either(is_range, is_other)
}

/// Returns the power with the special cases applied, given the magnitude of `x`, its sign, and the power of the
/// magnitude.
#[inline]
fn with_special<B: Steps>(
    b: &mut B,
    [x, y]: [B::Value; 2],
    a: B::Value,
    sign: B::Int,
    size: B::Value,
) -> B::Value {
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let (infinity, neg_infinity) = (b.value(B::Lane::INFINITY), b.value(B::Lane::NEG_INFINITY));
    let nan = b.value(B::Lane::NAN);
    let inverse = b.div(one, x);

    // The power of a zero or an infinity is itself or its inverse.
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
    // Only an integer can be even: half of the least subnormal number is rounded to 0, because it underflows.
    let integer = b.select(is_even, size, signed);
    let result = b.select(is_integer, integer, fraction);
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

/// Returns a^y for a positive finite `a`, as 2^(y log2(a)).
#[inline]
fn of_magnitude<B: Steps>(b: &mut B, a: B::Value, y: B::Value) -> B::Value {
    let c = B::Lane::POW;
    let log = log2(b, a);
    // Clamping does not change the result, because larger exponents overflow or underflow for every logarithm other
    // than 0.
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
    let power = power_from(b, k);
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
    b.scale(result, power.k)
}

/// Returns log2(x) of a positive finite number, with about 11 bits more than the working precision.
///
/// With x = 2^e (1 + f) as in `log` and s = f / (2 + f), it is e + 2/ln(2) (s + s^3/3 + s^5 Q(s^2)), where intermediate
/// results are rounded only in the last term.
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
