//! Constants of the circular functions.
//!
//! The coefficients are minimax approximations from the Remez exchange algorithm with 60 digits, and then rounded. The
//! digits of 2/pi are exact.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The largest angle that is reduced by subtracting a multiple of pi/2.
    pub largest: T,
    /// 2/pi, rounded.
    pub two_over_pi: T,
    /// pi/2, rounded.
    pub half_pi: T,
    /// pi/2 minus `half_pi`.
    pub half_pi_lo: T,
    /// pi/2 minus `half_pi` minus `half_pi_lo`.
    pub half_pi_rest: T,
    /// 1/4.
    pub quarter: T,
    /// -4.
    pub neg_four: T,
    /// 1.5 * 2^MANTISSA. Adding it to an integer leaves the integer in the low bits.
    pub whole: T,
    /// 2^-p, where p is the precision including the hidden bit.
    pub chunk: T,
    /// The digits of 2/pi to the base 2^p, each divided by the base.
    pub digits: &'static [T],
    /// The moves of the window over the digits, in order.
    pub moves: &'static [Move<T>],
    /// (sin(x) - x) / x^3 as a polynomial in x^2, for |x| <= pi/4.
    pub sin: &'static [T],
    /// (cos(x) - 1 + x^2/2) / x^4 as a polynomial in x^2, for |x| <= pi/4.
    pub cos: &'static [T],
}

/// A move of the window over the digits of 2/pi.
#[derive(Clone, Copy, Debug)]
pub struct Move<T> {
    /// The number of digits that are skipped, because their products with the angle are whole turns.
    pub digits: usize,
    /// The smallest angle for which they are skipped.
    pub least: T,
    /// The factor that scales such an angle.
    pub scale: T,
}

/// (sin(x) - x) / x^3 in powers of x^2 for |x| <= pi/4, relative error of sin(x) below 2^-27.9.
pub const SIN_F32: [f32; 3] = [
    -0.16666655,    // be2aaaa3
    0.008332178,    // 3c0883b0
    -0.00019517221, // b94ca724
];

/// (cos(x) - 1 + x^2/2) / x^4 in powers of x^2 for |x| <= pi/4, relative error of cos(x) below 2^-32.8.
pub const COS_F32: [f32; 3] = [
    0.041666646,   // 3d2aaaa5
    -0.0013887367, // bab60645
    2.4438375e-5,  // 37cd0103
];

/// The digits of 2/pi to the base 2^24, each divided by the base.
pub const DIGITS_F32: [f32; 9] = [
    0.63661975, // 3f22f983
    0.43088174, // 3edc9c88
    0.08267188, // 3da94fe0
    0.15368372, // 3e1d5f44
    0.9578379,  // 3f7534dd
    0.7533475,  // 3f40db62
    0.5843694,  // 3f15993c
    0.2639199,  // 3e872082
    0.99342936, // 3f7e5163
];

/// Moves of the window: floor((e - 1) / 24) - 1 digits are skipped for an angle with exponent e.
pub const MOVES_F32: [Move<f32>; 3] = [
    Move {
        digits: 4,
        least: power_f32(121),
        scale: power_f32(-96),
    },
    Move {
        digits: 2,
        least: power_f32(73),
        scale: power_f32(-48),
    },
    Move {
        digits: 1,
        least: power_f32(49),
        scale: power_f32(-24),
    },
];

/// (sin(x) - x) / x^3 in powers of x^2 for |x| <= pi/4, relative error of sin(x) below 2^-57.8.
pub const SIN_F64: [f64; 6] = [
    -0.16666666666666632,    // bfc5555555555549
    0.008333333333322411,    // 3f8111111110f879
    -0.00019841269829805653, // bf2a01a019c11677
    2.755731369107893e-6,    // 3ec71de357786144
    -2.5050757974485137e-8,  // be5ae5e6611df106
    1.589678708738312e-10,   // 3de5d92f49be775d
];

/// (cos(x) - 1 + x^2/2) / x^4 in powers of x^2 for |x| <= pi/4, relative error of cos(x) below 2^-63.7.
pub const COS_F64: [f64; 6] = [
    0.0416666666666666,     // 3fa555555555554c
    -0.001388888888887412,  // bf56c16c16c1517c
    2.480158728948021e-5,   // 3efa01a019cb1993
    -2.7557314351728153e-7, // be927e4f809d4bb3
    2.0875723186634817e-9,  // 3e21ee9ebd537dcb
    -1.135964310517835e-11, // bda8fae91a4282d1
];

/// The digits of 2/pi to the base 2^53, each divided by the base.
pub const DIGITS_F64: [f64; 23] = [
    0.6366197723675813,   // 3fe45f306dc9c882
    0.6455004762340146,   // 3fe4a7f09d5f47d4
    0.8260347502167291,   // 3fea6ee06db14acc
    0.6177029686506639,   // 3fe3c439041fe516
    0.22946046207480975,  // 3fcd5ef5de2b0db8
    0.28461387860774945,  // 3fd2371d2126e970
    0.006138546976630632, // 3f7924bba8274600
    0.5660391411155584,   // 3fe21cfe1deb1cb1
    0.16270821739654884,  // 3fc4d39f74411af8
    0.6478181222020806,   // 3fe4baed1213a671
    0.752362340216695,    // 3fe8135a2fbf209c
    0.7848375294503177,   // 3fe91d639835339f
    0.2882121784458589,   // 3fd272117e2ef7e4
    0.3143043483578357,   // 3fd41d8ffc4bffee
    0.505462883924126,    // 3fe02cc07f79788c
    0.35474129975356194,  // 3fd6b414da3eda6c
    0.495348441190541,    // 3fdfb3c9f2c26dd2
    0.9093006150323975,   // 3fed18fd9a797fa8
    0.7102755855591438,   // 3fe6ba93dd63f5f2
    0.9716433593102769,   // 3fef17b3d0739f78
    0.645159640989469,    // 3fe4a525d4d7f6bf
    0.38377539675336436,  // 3fd88fc6ae842b00
    0.7971457910852385,   // 3fe98237e3db5d5f
];

/// Moves of the window: floor((e - 1) / 53) - 1 digits are skipped for an angle with exponent e.
pub const MOVES_F64: [Move<f64>; 5] = [
    Move {
        digits: 16,
        least: power_f64(902),
        scale: power_f64(-848),
    },
    Move {
        digits: 8,
        least: power_f64(478),
        scale: power_f64(-424),
    },
    Move {
        digits: 4,
        least: power_f64(266),
        scale: power_f64(-212),
    },
    Move {
        digits: 2,
        least: power_f64(160),
        scale: power_f64(-106),
    },
    Move {
        digits: 1,
        least: power_f64(107),
        scale: power_f64(-53),
    },
];

/// Returns 2^n, which must be normal.
const fn power_f32(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

/// Returns 2^n, which must be normal.
const fn power_f64(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    largest: 131_072.0,
    two_over_pi: std::f32::consts::FRAC_2_PI,
    half_pi: std::f32::consts::FRAC_PI_2,
    half_pi_lo: -4.371_139e-8,
    half_pi_rest: -1.715_124_5e-15,
    quarter: 0.25,
    neg_four: -4.0,
    whole: 12_582_912.0,
    chunk: power_f32(-24),
    digits: &DIGITS_F32,
    moves: &MOVES_F32,
    sin: &SIN_F32,
    cos: &COS_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    largest: 134_217_728.0,
    two_over_pi: std::f64::consts::FRAC_2_PI,
    half_pi: std::f64::consts::FRAC_PI_2,
    half_pi_lo: 6.123_233_995_736_766e-17,
    half_pi_rest: -1.497_384_904_859_169_8e-33,
    quarter: 0.25,
    neg_four: -4.0,
    whole: 6_755_399_441_055_744.0,
    chunk: power_f64(-53),
    digits: &DIGITS_F64,
    moves: &MOVES_F64,
    sin: &SIN_F64,
    cos: &COS_F64,
};
