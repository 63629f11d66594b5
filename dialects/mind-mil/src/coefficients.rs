//! Numbers that evaluation and import compute functions with alike.

/// Parts of pi / 2 of 33 bits, 33 bits and what is left: a product of one of the first two with 20 bits is exact.
pub const FRAC_PI_2_PARTS: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

/// Below, powers past the second are lost in `e^x - 1` and `ln(1 + x)`.
pub const SMALL: f64 = 1e-6;

/// The factor of the cube in `gelu` with a hyperbolic tangent.
pub const GELU_CUBE: f64 = 0.044_715;

/// The factor in `gelu` with a sigmoid.
pub const GELU_SIGMOID: f64 = 1.702;
