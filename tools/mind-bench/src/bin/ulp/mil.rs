//! Functions of MIL that are not in core, with independent references.

use std::f64::consts::FRAC_2_PI;

use mind_mil::functions::{ALL, Function};

/// A function of MIL, and its reference.
pub struct MilFunction {
    /// `mil.` and the name of the op.
    pub name: String,
    /// The evaluated function.
    pub function: Function,
    /// The reference in `f64`.
    pub reference: fn(f64) -> f64,
}

/// Returns the measured functions of MIL; `gelu EXACT` is core's.
pub fn rows() -> impl Iterator<Item = MilFunction> {
    ALL.iter().filter_map(|&(name, function)| {
        Some(MilFunction {
            name: format!("mil.{name}"),
            function,
            reference: reference(name)?,
        })
    })
}

fn reference(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "softplus" => |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
        "silu" => |x| gated(x, x),
        "gelu TANH_APPROXIMATION" => {
            |x| gated(x, 2.0 * FRAC_2_PI.sqrt() * (x + 0.044_715 * x.powi(3)))
        }
        "gelu SIGMOID_APPROXIMATION" => |x| gated(x, 1.702 * x),
        _ => return None,
    })
}

/// Returns `x` times the sigmoid of `gate`.
fn gated(x: f64, gate: f64) -> f64 {
    if gate < 0.0 {
        x * (gate.exp() / (1.0 + gate.exp()))
    } else {
        x / (1.0 + (-gate).exp())
    }
}
