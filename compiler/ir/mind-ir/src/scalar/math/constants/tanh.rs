//! Constants of `tanh`.

/// Constants for one float type.
#[derive(Clone, Copy, Debug)]
pub struct Constants<T: 'static> {
    /// The boundary between the two approximations, ln(3)/2, where the tail is at most 1/2.
    pub middle: T,
    /// The result for larger numbers rounds to 1.
    pub highest: T,
    /// (tanh(x) - x) / x^3 as a polynomial in x^2, below `middle`.
    pub poly: &'static [T],
}

/// (tanh(x) - x) / x^3 in powers of x^2 for |x| <= 0.5501, relative error of tanh(x) below 2^-24.6.
pub const POLY_F32: [f32; 4] = [
    -0.33332947,  // beaaaa29
    0.13320723,   // 3e08677a
    -0.052671403, // bd57bdf8
    0.01643643,   // 3c86a5b1
];

/// (tanh(x) - x) / x^3 in powers of x^2 for |x| <= 0.5501, relative error of tanh(x) below 2^-55.4.
pub const POLY_F64: [f64; 10] = [
    -0.3333333333333231,     // bfd555555555549d
    0.1333333333316821,      // 3fc11111111028ad
    -0.05396825387582632,    // bfaba1ba1ad679f8
    0.021869485968611893,    // 3f9664f45c0fe434
    -0.00886319441928056,    // bf8226ddd159e818
    0.003591719001107075,    // 3f6d6c6174ad7ab5
    -0.0014532132550985745,  // bf57cf37d9e79f39
    0.0005791264587844259,   // 3f42fa1099b16f7c
    -0.00021028488542773594, // bf2b8ffd6958bff8
    0.00005100919013066216,  // 3f0abe566d6075e0
];

/// The constants for f32.
pub const F32: Constants<f32> = Constants {
    middle: 0.55,
    highest: 10.0,
    poly: &POLY_F32,
};

/// The constants for f64.
pub const F64: Constants<f64> = Constants {
    middle: 0.55,
    highest: 20.0,
    poly: &POLY_F64,
};
