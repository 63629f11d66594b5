//! `tanh`.

use super::steps::{Lane, Steps, horner, join_sign, split_sign};

/// Constants of [`tanh`].
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Above this the result rounds to 1.
    pub highest: T,
    /// The largest number below 1/2: with 1/2 itself, tiny arguments would be rounded up to the even side.
    pub below_half: T,
    /// -2 log2(e).
    pub neg_2_log2_e: T,
    /// ln(2)/2.
    pub half_ln2: T,
    /// ((1 - e^(-2u))/2 - u) / u^2 for 0 <= u <= ln(2)/2.
    pub poly: &'static [T],
}

/// ((1 - e^(-2u))/2 - u) / u^2 for 0 <= u <= 0.3468, relative error of (1 - e^(-2u))/2 below 2^-26.4.
pub const POLY_F32: [f32; 5] = [
    -0.9999987,   // bf7fffea
    0.6666139,    // 3f2aa735
    -0.33263546,  // beaa4f32
    0.12924498,   // 3e0458cc
    -0.033235162, // bd082198
];

/// ((1 - e^(-2u))/2 - u) / u^2 for 0 <= u <= 0.3468, relative error of (1 - e^(-2u))/2 below 2^-61.3.
pub const POLY_F64: [f64; 11] = [
    -0.9999999999999999,    // bfefffffffffffff
    0.6666666666666484,     // 3fe55555555554b1
    -0.33333333333228876,   // bfd5555555550bd4
    0.13333333330343902,    // 3fc111111100a1d1
    -0.0444444439461309,    // bfa6c16c12799e81
    0.012698407460478359,   // 3f8a019f66084488
    -0.0031745669818496187, // bf6a018cabb6513f
    0.0007053003042349229,  // 3f471c7cdeca4592
    -0.00014058167531194683, // bf226d236550c01f
    2.4648166688231755e-5,  // 3ef9d8711e087c85
    -3.1092653156555617e-6, // beca1518af27dbf2
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    highest: 10.0,
    below_half: 0.499_999_97,
    neg_2_log2_e: -2.0 * std::f32::consts::LOG2_E,
    half_ln2: 0.5 * std::f32::consts::LN_2,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    highest: 20.0,
    below_half: 0.499_999_999_999_999_94,
    neg_2_log2_e: -2.0 * std::f64::consts::LOG2_E,
    half_ln2: 0.5 * std::f64::consts::LN_2,
    poly: &POLY_F64,
};

/// tanh(x).
///
/// With |x| = u + n ln(2)/2 and h = (1 - e^(-2|x|))/2, the result is h / (1 - h). h is 2^-n q + (1 - 2^-n)/2 with
/// q = (1 - e^(-2u))/2: nothing cancels because n rounds down, and no sum is inexact for n = 0.
#[inline]
pub fn tanh<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::TANH;
    let (x, sign) = split_sign(b, x);
    let highest = b.value(c.highest);
    let x = b.min(highest, x);

    let (scale, below_half) = (b.value(c.neg_2_log2_e), b.value(c.below_half));
    let round = b.value(B::Lane::EXP.round);
    let k = b.fma(x, scale, below_half);
    let k = b.add(k, round);
    let neg_n = b.sub(k, round);
    let half_ln2 = b.value(c.half_ln2);
    let u = b.fma(neg_n, half_ln2, x);

    let w = horner(b, u, c.poly);
    let u2 = b.mul(u, u);
    let q = b.fma(u2, w, u);

    let k = b.bits(k);
    let power = b.shl(k, B::Lane::MANTISSA);
    let power = b.float(power);
    let (half, neg_half) = (b.value(B::Lane::HALF), b.value(B::Lane::NEG_HALF));
    let rest = b.fma(power, neg_half, half);
    let h = b.fma(q, power, rest);
    let one = b.value(B::Lane::ONE);
    let complement = b.sub(one, h);
    let result = b.div(h, complement);
    join_sign(b, result, sign)
}
