//! Constants of the arc functions.
//!
//! The coefficients are minimax approximations from the Remez exchange algorithm with 60 digits, with respect to the
//! relative error of the function, and then rounded.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// pi, rounded.
    pub pi: T,
    /// pi minus `pi`.
    pub pi_lo: T,
    /// pi/2, rounded.
    pub half_pi: T,
    /// pi/2 minus `half_pi`.
    pub half_pi_lo: T,
    /// pi/4, rounded.
    pub quarter_pi: T,
    /// pi/4 minus `quarter_pi`.
    pub quarter_pi_lo: T,
    /// 3 pi/4, rounded.
    pub three_quarters_pi: T,
    /// 3 pi/4 minus `three_quarters_pi`.
    pub three_quarters_pi_lo: T,
    /// Coordinates above this are multiplied by `down`.
    pub large: T,
    /// A power of two whose product with any number is far below the largest number.
    pub down: T,
    /// Coordinates below this are multiplied by `up`.
    pub small: T,
    /// A power of two whose product with any number is 0, or is normal and has a normal inverse.
    pub up: T,
    /// The arc tangent of larger numbers rounds to pi/2.
    pub highest: T,
    /// (asin(x) - x) / x^3 as a polynomial in x^2, for |x| <= 1/2.
    pub asin: &'static [T],
    /// (atan(x) - x) / x^3 as a polynomial in x^2, for |x| <= 1/2.
    pub atan: &'static [T],
}

/// (asin(x) - x) / x^3 in powers of x^2 for |x| <= 1/2, relative error of asin(x) below 2^-27.6.
pub const ASIN_F32: [f32; 5] = [
    0.16666754,  // 3e2aaae5
    0.074952334, // 3d99809c
    0.045478266, // 3d3a476b
    0.02414139,  // 3cc5c42a
    0.042229865, // 3d2cf939
];

/// (atan(x) - x) / x^3 in powers of x^2 for |x| <= 1/2, relative error of atan(x) below 2^-27.5.
pub const ATAN_F32: [f32; 5] = [
    -0.33333236,  // beaaaa8a
    0.19994313,   // 3e4cbde4
    -0.14176024,  // be112999
    0.10164768,   // 3dd02ca9
    -0.051402777, // bd528bb8
];

/// (asin(x) - x) / x^3 in powers of x^2 for |x| <= 1/2, relative error of asin(x) below 2^-55.9.
pub const ASIN_F64: [f64; 12] = [
    0.16666666666665375,   // 3fc5555555555384
    0.0750000000034478,    // 3fb333333336fdab
    0.0446428568219873,    // 3fa6db6db419d40d
    0.030381959395126477,  // 3f9f1c72c7f63d49
    0.02237175194525903,   // 3f96e89edbd6216f
    0.017359795532476484,  // 3f91c6c4284f1646
    0.013884351535569377,  // 3f8c6f661e2be79c
    0.012174935247357075,  // 3f88ef2c25bf1c9f
    0.006503550912493741,  // 3f7aa377a7a1ebdc
    0.01959425498457913,   // 3f94108431649c43
    -0.016326550781703444, // bf90b7e846a7d547
    0.031981585863360876,  // 3fa05fe3f2b6f6b2
];

/// (atan(x) - x) / x^3 in powers of x^2 for |x| <= 1/2, relative error of atan(x) below 2^-57.8.
pub const ATAN_F64: [f64; 12] = [
    -0.33333333333332993, // bfd5555555555518
    0.19999999999905266,  // 3fc9999999991446
    -0.14285714276557396, // bfc249249216cd65
    0.11111110666436382,  // 3fbc71c709588705
    -0.09090896401342682, // bfb745cf5359d52e
    0.07692076180109154,  // 3fb3b1143c51b029
    -0.06663832122925584, // bfb10f3582570a00
    0.058584345367298396, // 3fadfec46ed1fab0
    -0.05122569392949214, // bfaa3a411048bdfc
    0.041879871207965394, // 3fa571474a65d6aa
    -0.02745733119415199, // bf9c1dc64e0eaacd
    0.01013161242054013,  // 3f84bfe200040769
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    pi: std::f32::consts::PI,
    pi_lo: -8.742_278e-8,
    half_pi: std::f32::consts::FRAC_PI_2,
    half_pi_lo: -4.371_139e-8,
    quarter_pi: std::f32::consts::FRAC_PI_4,
    quarter_pi_lo: -2.185_569_4e-8,
    three_quarters_pi: 2.356_194_5,
    three_quarters_pi_lo: -5.962_440_3e-9,
    large: f32::from_bits(227 << 23),
    down: f32::from_bits(77 << 23),
    small: f32::from_bits(67 << 23),
    up: f32::from_bits(217 << 23),
    highest: 1_267_650_600_228_229_401_496_703_205_376.0,
    asin: &ASIN_F32,
    atan: &ATAN_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    pi: std::f64::consts::PI,
    pi_lo: 1.224_646_799_147_353_2e-16,
    half_pi: std::f64::consts::FRAC_PI_2,
    half_pi_lo: 6.123_233_995_736_766e-17,
    quarter_pi: std::f64::consts::FRAC_PI_4,
    quarter_pi_lo: 3.061_616_997_868_383e-17,
    three_quarters_pi: 2.356_194_490_192_345,
    three_quarters_pi_lo: 9.184_850_993_605_148e-17,
    large: f64::from_bits(1923 << 52),
    down: f64::from_bits(573 << 52),
    small: f64::from_bits(523 << 52),
    up: f64::from_bits(1623 << 52),
    highest: 1_267_650_600_228_229_401_496_703_205_376.0,
    asin: &ASIN_F64,
    atan: &ATAN_F64,
};
