//! Constants of the hyperbolic functions and their inverses.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The series are as accurate as the type for smaller numbers.
    pub middle: T,
    /// `sinh` and `cosh` overflow for larger numbers.
    pub highest: T,
    /// 1 is negligible next to the square of larger numbers.
    pub far: T,
    /// (sinh(x) - x) / x^3 in powers of x^2, its first Taylor coefficients.
    pub sinh: &'static [T],
    /// (asinh(x) - x) / x^3 in powers of x^2, its first Taylor coefficients.
    pub asinh: &'static [T],
    /// (atanh(x) - x) / x^3 in powers of x^2, its first Taylor coefficients.
    pub atanh: &'static [T],
}

/// (sinh(x) - x) / x^3 in powers of x^2.
pub const SINH_F32: [f32; 2] = [
    0.16666667,  // 3e2aaaab
    0.008333334, // 3c088889
];

/// (asinh(x) - x) / x^3 in powers of x^2.
pub const ASINH_F32: [f32; 2] = [
    -0.16666667, // be2aaaab
    0.075,       // 3d99999a
];

/// (atanh(x) - x) / x^3 in powers of x^2.
pub const ATANH_F32: [f32; 2] = [
    0.33333334, // 3eaaaaab
    0.2,        // 3e4ccccd
];

/// (sinh(x) - x) / x^3 in powers of x^2.
pub const SINH_F64: [f64; 3] = [
    0.16666666666666666,   // 3fc5555555555555
    0.008333333333333333,  // 3f81111111111111
    0.0001984126984126984, // 3f2a01a01a01a01a
];

/// (asinh(x) - x) / x^3 in powers of x^2.
pub const ASINH_F64: [f64; 4] = [
    -0.16666666666666666,  // bfc5555555555555
    0.075,                 // 3fb3333333333333
    -0.044642857142857144, // bfa6db6db6db6db7
    0.030381944444444444,  // 3f9f1c71c71c71c7
];

/// (atanh(x) - x) / x^3 in powers of x^2.
pub const ATANH_F64: [f64; 4] = [
    0.3333333333333333,  // 3fd5555555555555
    0.2,                 // 3fc999999999999a
    0.14285714285714285, // 3fc2492492492492
    0.1111111111111111,  // 3fbc71c71c71c71c
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    middle: 0.015_625,
    highest: 90.0,
    far: 1_073_741_824.0,
    sinh: &SINH_F32,
    asinh: &ASINH_F32,
    atanh: &ATANH_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    middle: 0.015_625,
    highest: 711.0,
    far: 1_073_741_824.0,
    sinh: &SINH_F64,
    asinh: &ASINH_F64,
    atanh: &ATANH_F64,
};
