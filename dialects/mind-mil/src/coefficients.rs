//! Coefficients shared by evaluation and import.

/// The factor of the cube in `gelu` with a hyperbolic tangent.
pub const GELU_CUBE: f64 = 0.044_715;

/// The factor in `gelu` with a sigmoid.
pub const GELU_SIGMOID: f64 = 1.702;

/// The root of 2 / π, the factor in `gelu` with a hyperbolic tangent.
pub const GELU_TANH: f64 = 0.797_884_560_802_865_4;
