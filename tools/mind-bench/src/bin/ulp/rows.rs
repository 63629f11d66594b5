//! The measured functions with their references.

use std::f64::consts::FRAC_1_SQRT_2;

use mind_ir::random::Rng;
use mind_ir::scalar::math;

use mind_testgen::exact::{BigFloat, Exact};

/// A function of one operand in both types, with its references.
pub struct MeasuredFunction {
    pub name: &'static str,
    pub f32: fn(&mut [f32]),
    pub f64: fn(f64) -> f64,
    pub f32_reference: fn(f64) -> f64,
    pub f64_reference: fn(&mut Exact, f64) -> BigFloat,
    /// The range in which the f64 result is neither saturated nor trivial.
    pub domain: (f64, f64),
}

/// A function of two operands in both types, with its references.
pub struct Pair {
    pub name: &'static str,
    pub f32: fn(f32, f32) -> f32,
    pub f64: fn(f64, f64) -> f64,
    pub f32_reference: fn(f64, f64) -> f64,
    pub f64_reference: fn(&mut Exact, f64, f64) -> BigFloat,
    /// Draws a pair that is in the range of both types.
    pub draw: fn(&mut Rng) -> (f64, f64),
}

/// Applies a function to a block, so that the compiler can vectorise it.
macro_rules! block {
    ($function:expr) => {
        |xs| xs.iter_mut().for_each(|x| *x = $function(*x))
    };
}

/// Functions of one operand.
pub const ROWS: [MeasuredFunction; 22] = [
    MeasuredFunction {
        name: "exp",
        f32: block!(math::exp_f32),
        f64: math::exp_f64,
        f32_reference: f64::exp,
        f64_reference: |exact, x| exact.of(BigFloat::exp, x),
        domain: (-746.0, 710.0),
    },
    MeasuredFunction {
        name: "log",
        f32: block!(math::log_f32),
        f64: math::log_f64,
        f32_reference: f64::ln,
        f64_reference: |exact, x| exact.of(BigFloat::ln, x),
        domain: (0.0, 16.0),
    },
    MeasuredFunction {
        name: "tanh",
        f32: block!(math::tanh_f32),
        f64: math::tanh_f64,
        f32_reference: f64::tanh,
        f64_reference: |exact, x| exact.of(BigFloat::tanh, x),
        domain: (-20.0, 20.0),
    },
    MeasuredFunction {
        name: "erf",
        f32: block!(math::erf_f32),
        f64: math::erf_f64,
        f32_reference: libm::erf,
        f64_reference: Exact::erf,
        domain: (-6.0, 6.0),
    },
    MeasuredFunction {
        name: "sigmoid",
        f32: block!(math::sigmoid_f32),
        f64: math::sigmoid_f64,
        f32_reference: sigmoid,
        f64_reference: Exact::sigmoid,
        domain: (-746.0, 40.0),
    },
    MeasuredFunction {
        name: "gelu",
        f32: block!(math::gelu_f32),
        f64: math::gelu_f64,
        f32_reference: |x| {
            if x == f64::NEG_INFINITY {
                -0.0
            } else {
                0.5 * x * libm::erfc(-x * FRAC_1_SQRT_2)
            }
        },
        f64_reference: Exact::gelu,
        domain: (-38.7, 9.0),
    },
    MeasuredFunction {
        name: "exp2",
        f32: block!(math::exp2_f32),
        f64: math::exp2_f64,
        f32_reference: f64::exp2,
        f64_reference: Exact::exp2,
        domain: (-1076.0, 1024.0),
    },
    MeasuredFunction {
        name: "log2",
        f32: block!(math::log2_f32),
        f64: math::log2_f64,
        f32_reference: f64::log2,
        f64_reference: |exact, x| exact.of(BigFloat::log2, x),
        domain: (0.0, 16.0),
    },
    MeasuredFunction {
        name: "expm1",
        f32: block!(math::expm1_f32),
        f64: math::expm1_f64,
        f32_reference: f64::exp_m1,
        f64_reference: Exact::expm1,
        domain: (-40.0, 710.0),
    },
    MeasuredFunction {
        name: "log1p",
        f32: block!(math::log1p_f32),
        f64: math::log1p_f64,
        f32_reference: f64::ln_1p,
        f64_reference: Exact::log1p,
        domain: (-1.0, 16.0),
    },
    MeasuredFunction {
        name: "rsqrt",
        f32: block!((|x: f32| 1.0 / x.sqrt())),
        f64: |x| 1.0 / x.sqrt(),
        f32_reference: |x| 1.0 / x.sqrt(),
        f64_reference: Exact::rsqrt,
        domain: (0.0, 16.0),
    },
    MeasuredFunction {
        name: "sinh",
        f32: block!(math::sinh_f32),
        f64: math::sinh_f64,
        f32_reference: f64::sinh,
        f64_reference: |exact, x| exact.of(BigFloat::sinh, x),
        domain: (-711.0, 711.0),
    },
    MeasuredFunction {
        name: "cosh",
        f32: block!(math::cosh_f32),
        f64: math::cosh_f64,
        f32_reference: f64::cosh,
        f64_reference: |exact, x| exact.of(BigFloat::cosh, x),
        domain: (-711.0, 711.0),
    },
    MeasuredFunction {
        name: "asinh",
        f32: block!(math::asinh_f32),
        f64: math::asinh_f64,
        f32_reference: libm::asinh,
        f64_reference: |exact, x| exact.of(BigFloat::asinh, x),
        domain: (-100.0, 100.0),
    },
    MeasuredFunction {
        name: "acosh",
        f32: block!(math::acosh_f32),
        f64: math::acosh_f64,
        f32_reference: f64::acosh,
        f64_reference: |exact, x| exact.of(BigFloat::acosh, x),
        domain: (1.0, 100.0),
    },
    MeasuredFunction {
        name: "atanh",
        f32: block!(math::atanh_f32),
        f64: math::atanh_f64,
        f32_reference: libm::atanh,
        f64_reference: |exact, x| exact.of(BigFloat::atanh, x),
        domain: (-1.0, 1.0),
    },
    MeasuredFunction {
        name: "sin",
        f32: block!(math::sin_f32),
        f64: math::sin_f64,
        f32_reference: f64::sin,
        f64_reference: |exact, x| exact.of(BigFloat::sin, x),
        domain: (-100.0, 100.0),
    },
    MeasuredFunction {
        name: "cos",
        f32: block!(math::cos_f32),
        f64: math::cos_f64,
        f32_reference: f64::cos,
        f64_reference: |exact, x| exact.of(BigFloat::cos, x),
        domain: (-100.0, 100.0),
    },
    MeasuredFunction {
        name: "tan",
        f32: block!(math::tan_f32),
        f64: math::tan_f64,
        f32_reference: f64::tan,
        f64_reference: |exact, x| exact.of(BigFloat::tan, x),
        domain: (-100.0, 100.0),
    },
    MeasuredFunction {
        name: "asin",
        f32: block!(math::asin_f32),
        f64: math::asin_f64,
        f32_reference: f64::asin,
        f64_reference: |exact, x| exact.of(BigFloat::asin, x),
        domain: (-1.0, 1.0),
    },
    MeasuredFunction {
        name: "acos",
        f32: block!(math::acos_f32),
        f64: math::acos_f64,
        f32_reference: f64::acos,
        f64_reference: |exact, x| exact.of(BigFloat::acos, x),
        domain: (-1.0, 1.0),
    },
    MeasuredFunction {
        name: "atan",
        f32: block!(math::atan_f32),
        f64: math::atan_f64,
        f32_reference: f64::atan,
        f64_reference: |exact, x| exact.of(BigFloat::atan, x),
        domain: (-100.0, 100.0),
    },
];

/// Functions of two operands with rounded results.
pub const PAIRS: [Pair; 2] = [
    Pair {
        name: "atan2",
        f32: math::atan2_f32,
        f64: math::atan2_f64,
        f32_reference: f64::atan2,
        f64_reference: Exact::atan2,
        draw: |rng| (spread(rng, 30.0), spread(rng, 30.0)),
    },
    Pair {
        name: "pow",
        f32: math::pow_f32,
        f64: math::pow_f64,
        f32_reference: f64::powf,
        f64_reference: Exact::pow,
        draw: |rng| {
            let x = spread(rng, 6.0).abs();
            // Results from 2^-120 to 2^120.
            (
                x,
                120.0 * (2.0 * rng.fraction() - 1.0) / x.log2().abs().max(1e-3),
            )
        },
    },
];

/// Returns a number of random sign with a magnitude from 2^-binades to 2^binades.
fn spread(rng: &mut Rng, binades: f64) -> f64 {
    let magnitude = (binades * (2.0 * rng.fraction() - 1.0)).exp2();
    if rng.bits() & 1 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        x.exp() / (1.0 + x.exp())
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}
