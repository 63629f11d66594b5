//! `gelu`.

use super::exp::{PowerOfTwo, expm1_reduced, nearest_power};
use super::steps::{Lane, Steps, horner, split_sign};

/// x (1 + erf(x / sqrt(2))) / 2; -0 at negative infinity, the limit.
///
/// With a = |x| and Q(a) = erfc(a / sqrt(2)) / 2 = e^(-a^2/2) R(a), the result is max(x, 0) - a Q(a). Nothing
/// cancels, because Q <= 1/2. The relative error of a Q(a) is small even if it is tiny, because the values named
/// `_lo` carry the rounding errors of the main steps.
#[inline]
pub fn gelu<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::GELU;
    let (a, _) = split_sign(b, x);
    let highest = b.value(c.highest);
    let a = b.min(highest, a);

    // v + v_lo = a / (a + k); d_lo is the rounding error of the sum.
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

    // f + f_lo = (a + k) R(a): the last step of Horner's rule with its rounding error.
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
    let PowerOfTwo { n, k } = nearest_power(b, square);
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
    let tail = b.scale(tail, k);

    let neg_zero = b.value(B::Lane::NEG_ZERO);
    let positive = b.max(neg_zero, x);
    b.sub(positive, tail)
}
