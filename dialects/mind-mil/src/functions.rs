//! Functions of one number that core lacks.

use mind_ir::scalar::math::gelu_f32;

use crate::eval::exponential;

/// A function of one number.
pub type Function = fn(f32) -> f32;

/// The functions without parameters, by the name of the op, followed by its mode if it has one.
///
/// Each is within 2 ulp of the exact result, see docs/numerics.md.
pub const ALL: &[(&str, Function)] = &[
    ("softplus", exponential::softplus),
    ("silu", exponential::silu),
    ("gelu EXACT", gelu_f32),
    ("gelu TANH_APPROXIMATION", exponential::gelu_of_tanh),
    ("gelu SIGMOID_APPROXIMATION", exponential::gelu_of_sigmoid),
];

/// Returns the function of the op `name`; `None` for an op with parameters, or of core.
pub(crate) fn named(name: &str) -> Option<Function> {
    let mut all = ALL.iter();
    all.find(|(own, _)| *own == name)
        .map(|&(_, function)| function)
}

/// Returns the function of `gelu` in `mode`.
pub(crate) fn gelu(mode: &str) -> Function {
    named(&format!("gelu {mode}")).unwrap_or(gelu_f32)
}
