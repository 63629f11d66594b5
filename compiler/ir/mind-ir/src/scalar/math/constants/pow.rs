//! Constants of `pow`.
//!
//! The coefficients are minimax approximations from the Remez exchange algorithm with 60 digits, and then rounded.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// Smaller exponents give the same results as this one.
    pub least_exponent: T,
    /// Larger exponents give the same results as this one.
    pub largest_exponent: T,
    /// -2: twice the smallest exact exponent.
    pub least_double: T,
    /// 4: twice the largest exact exponent.
    pub largest_double: T,
    /// 1/3, rounded.
    pub third: T,
    /// 1/3 minus `third`.
    pub third_lo: T,
    /// 2/ln(2), rounded.
    pub two_over_ln2: T,
    /// 2/ln(2) minus `two_over_ln2`.
    pub two_over_ln2_lo: T,
    /// (atanh(s) - s - s^3/3) / s^5 as a polynomial in s^2, for |s| <= 1/5.
    pub poly: &'static [T],
}

/// (atanh(s) - s - s^3/3) / s^5 in powers of s^2 for |s| <= 1/5, relative error of atanh(s) below 2^-41.5.
pub const POLY_F32: [f32; 4] = [
    0.19999997, // 3e4ccccb
    0.14286292, // 3e124aa8
    0.11075794, // 3de2d50f
    0.09981922, // 3dcc6e05
];

/// (atanh(s) - s - s^3/3) / s^5 in powers of s^2 for |s| <= 1/5, relative error of atanh(s) below 2^-69.0.
pub const POLY_F64: [f64; 8] = [
    0.1999999999999986,  // 3fc9999999999967
    0.14285714285789936, // 3fc2492492498f0a
    0.11111111095396432, // 3fbc71c71bc4fe39
    0.09090910783529825, // 3fb745d1bd0fa717
    0.07692202293662029, // 3fb3b12964daddbe
    0.0667060152197929,  // 3fb113a539d0c3df
    0.05795740069696194, // 3fadac97a91bf70a
    0.06288418477979216, // 3fb0192d8d109896
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    least_exponent: f32::from_bits(423 << 23),
    largest_exponent: f32::from_bits(167 << 23),
    least_double: -2.0,
    largest_double: 4.0,
    third: 0.33333334,
    third_lo: -9.934108e-9,
    two_over_ln2: 2.88539,
    two_over_ln2_lo: 3.851926e-8,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    least_exponent: f64::from_bits(3141 << 52),
    largest_exponent: f64::from_bits(1093 << 52),
    least_double: -2.0,
    largest_double: 4.0,
    third: 0.3333333333333333,
    third_lo: 1.850371707708594e-17,
    two_over_ln2: 2.8853900817779268,
    two_over_ln2_lo: 4.0710547481862066e-17,
    poly: &POLY_F64,
};
