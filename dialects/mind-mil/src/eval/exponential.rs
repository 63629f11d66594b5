//! Functions of exponentials.
//!
//! They are computed in `f64` and rounded once, because a rounded exponent, or cancellation in a difference, would lose
//! the last digits of an `f32`.

use std::f64::consts::FRAC_2_PI;

use mind_ir::scalar::math::{exp_f64, expm1_f64, log1p_f64, sigmoid_f64};

use crate::coefficients::{GELU_CUBE, GELU_SIGMOID};

/// `x`, below 0 `alpha (e^x - 1)`.
pub(crate) fn elu(x: f32, alpha: f32) -> f32 {
    if x >= 0.0 {
        x
    } else {
        (f64::from(alpha) * expm1_f64(f64::from(x))) as f32
    }
}

/// `ln(1 + e^x)`.
pub(crate) fn softplus(x: f32) -> f32 {
    let x = f64::from(x);
    // A NaN propagates through the sum.
    (x.max(0.0) + log1p_f64(exp_f64(-x.abs()))) as f32
}

/// `x` times the sigmoid of `x`.
pub(crate) fn silu(x: f32) -> f32 {
    gated(x, f64::from(x))
}

/// `gelu` with a hyperbolic tangent: `(1 + tanh z) / 2` is the sigmoid of `2 z`.
pub(crate) fn gelu_of_tanh(x: f32) -> f32 {
    let own = f64::from(x);
    let inner = FRAC_2_PI.sqrt() * (own + GELU_CUBE * own * own * own);
    gated(x, 2.0 * inner)
}

/// `gelu` with a sigmoid.
pub(crate) fn gelu_of_sigmoid(x: f32) -> f32 {
    gated(x, GELU_SIGMOID * f64::from(x))
}

fn gated(x: f32, gate: f64) -> f32 {
    (f64::from(x) * sigmoid_f64(gate)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_published_values() {
        let near = |found: f32, expected: f64| (f64::from(found) / expected - 1.0).abs() <= 1.2e-7;
        for (found, expected) in [
            (elu(-1e-7, 1.0), -9.999_999_500_000_016e-8),
            (softplus(-30.0), 9.357_622_968_839_737e-14),
            (softplus(1.0), 1.313_261_687_518_222_8),
            (silu(-20.0), -4.122_307_236_380_407e-8),
        ] {
            assert!(near(found, expected), "{found} is not {expected}");
        }
        assert_eq!(elu(f32::NEG_INFINITY, 2.0), -2.0);
        for function in [softplus, silu, gelu_of_tanh, gelu_of_sigmoid] {
            assert!(function(f32::NAN).is_nan());
        }
    }
}
