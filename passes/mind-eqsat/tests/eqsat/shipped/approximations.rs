//! Cases of `approximations.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "div-by-constant",
        "div(x:f32[4], 3:f32[])",
        "div(x:f16[4], 3:f16[])",
    ),
    (
        "exp-product",
        "mul(exp(x:f32[4]), exp(y:f32[4]))",
        "mul(exp(x:f32[4]), tanh(y:f32[4]))",
    ),
    (
        "exp-reciprocal",
        "div(1:f32[], exp(x:f32[4]))",
        "div(2:f32[], exp(x:f32[4]))",
    ),
    (
        "exp-divisor",
        "div(y:f32[4], exp(x:f32[4]))",
        "div(exp(x:f32[4]), y:f32[4])",
    ),
    ("exp-of-log", "exp(log(x:f32[4]))", "log(exp(x:f32[4]))"),
    ("log-of-exp", "log(exp(x:f32[4]))", "log(tanh(x:f32[4]))"),
    (
        "max-of-exp",
        "max(exp(x:f32[4, 3]), axes=[0])",
        "max(log(x:f32[4, 3]), axes=[0])",
    ),
    (
        "sigmoid-of-exp",
        "div(1:f32[], add(1:f32[], exp(neg(x:f32[4]))))",
        "div(1:f32[], add(2:f32[], exp(neg(x:f32[4]))))",
    ),
    (
        "silu-of-exp",
        "div(x:f32[4], add(1:f32[], exp(neg(x))))",
        "div(x:f32[4], add(1:f32[], exp(abs(x))))",
    ),
    (
        "sqrt-square",
        "mul(sqrt(x:f32[4]), sqrt(x))",
        "mul(sqrt(x:f32[4]), sqrt(y:f32[4]))",
    ),
];
