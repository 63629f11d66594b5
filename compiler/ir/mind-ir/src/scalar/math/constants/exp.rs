//! Constants of `exp`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static, Bits> {
    /// The result for smaller numbers rounds to 0.
    pub lowest: T,
    /// The result for larger numbers rounds to infinity.
    pub highest: T,
    /// log2(e).
    pub log2_e: T,
    /// -ln(2), rounded.
    pub neg_ln2_hi: T,
    /// -ln(2) minus `neg_ln2_hi`, rounded.
    pub neg_ln2_lo: T,
    /// 1.5 * 2^MANTISSA + bias. Adding it rounds to an integer and leaves the integer, biased like an exponent, in the
    /// low bits.
    pub round: T,
    /// 1.5 * 2^MANTISSA + 2 * bias, for a power of two as two factors.
    pub round_twice: T,
    /// Twice the exponent bias, shifted to the position of the exponent.
    pub twice_bias: Bits,
    /// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2.
    pub poly: &'static [T],
}

/// (e^r - 1 - r) / r^2 for |r| <= 0.3467, relative error of e^r below 2^-28.2.
pub const POLY_F32: [f32; 5] = [
    0.49999994,   // 3efffffe
    0.16666517,   // 3e2aaa46
    0.041668102,  // 3d2aac2c
    0.008369184,  // 3c091ee7
    0.0013838612, // 3ab562ad
];

/// (e^r - 1 - r) / r^2 for |r| <= 0.3467, relative error of e^r below 2^-57.8.
pub const POLY_F64: [f64; 10] = [
    0.5000000000000011,      // 3fe000000000000a
    0.16666666666666435,     // 3fc5555555555502
    0.041666666666525735,    // 3fa55555555505ff
    0.008333333333475688,    // 3f8111111112519f
    0.001388888894489057,    // 3f56c16c184b7fc0
    0.00019841269555989394,  // 3f2a01a013bba3a6
    0.000024801491703188272, // 3efa01998838b60e
    2.755753458738592e-6,    // 3ec71def7c4f335c
    2.763077508569491e-7,    // 3e928aee56f321c4
    2.5018827302081005e-8,   // 3e5add1f754274d5
];

/// The constants for f32.
pub const F32: Constants<f32, u32> = Constants {
    lowest: -104.0,
    highest: 89.0,
    log2_e: std::f32::consts::LOG2_E,
    neg_ln2_hi: -std::f32::consts::LN_2,
    neg_ln2_lo: 1.904_654_3e-9,
    round: 12_582_912.0 + 127.0,
    round_twice: 12_582_912.0 + 254.0,
    twice_bias: 254 << 23,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64, u64> = Constants {
    lowest: -746.0,
    highest: 710.0,
    log2_e: std::f64::consts::LOG2_E,
    neg_ln2_hi: -std::f64::consts::LN_2,
    neg_ln2_lo: -2.319_046_813_846_3e-17,
    round: 6_755_399_441_055_744.0 + 1023.0,
    round_twice: 6_755_399_441_055_744.0 + 2046.0,
    twice_bias: 2046 << 52,
    poly: &POLY_F64,
};
