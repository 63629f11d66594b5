//! Functions of one number that core does not have.

use mind_ir::scalar::math::gelu_f32;

use crate::eval::{circular, exponential};

/// A function of one number.
pub type Function = fn(f32) -> f32;

/// The functions that have no parameters, by the names of their ops, a mode behind the name.
///
/// Each is within 2 ulp of the exact result, see docs/numerics.md.
pub const ALL: &[(&str, Function)] = &[
    ("sin", circular::sin),
    ("cos", circular::cos),
    ("tan", circular::tan),
    ("asin", circular::asin),
    ("acos", circular::acos),
    ("atan", circular::atan),
    ("atanh", circular::atanh),
    ("exp2", exponential::exp2),
    ("sinh", exponential::sinh),
    ("cosh", exponential::cosh),
    ("softplus", exponential::softplus),
    ("silu", exponential::silu),
    ("gelu EXACT", gelu_f32),
    ("gelu TANH_APPROXIMATION", exponential::gelu_of_tanh),
    ("gelu SIGMOID_APPROXIMATION", exponential::gelu_of_sigmoid),
];

/// The function of the op `name`; none for one with parameters, or of core.
pub(crate) fn named(name: &str) -> Option<Function> {
    let mut all = ALL.iter();
    all.find(|(own, _)| *own == name)
        .map(|&(_, function)| function)
}

/// What `gelu` computes in `mode`.
pub(crate) fn gelu(mode: &str) -> Function {
    named(&format!("gelu {mode}")).unwrap_or(gelu_f32)
}

/// Parts of pi / 2 of 33 bits, 33 bits and what is left: a product of one of the first two with 20 bits is exact.
pub const FRAC_PI_2_PARTS: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];

/// Below, powers past the second are lost in `e^x - 1` and `ln(1 + x)`.
pub const SMALL: f64 = 1e-6;

/// Below, powers past the fifth are lost in the inverse hyperbolic tangent.
pub const SMALL_ATANH: f64 = 1e-3;

/// The factor of the cube in `gelu` by way of a hyperbolic tangent.
pub const GELU_CUBE: f64 = 0.044_715;

/// The factor in `gelu` by way of a sigmoid.
pub const GELU_SIGMOID: f64 = 1.702;
