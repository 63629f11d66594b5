//! Cases of `activations.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    ("relu-relu", "relu(relu(x:f32[4]))", "relu(abs(x:f32[4]))"),
    ("abs-relu", "abs(relu(x:i32[4]))", "abs(neg(x:i32[4]))"),
    (
        "relu-neg-relu",
        "relu(neg(relu(x:f32[4])))",
        "relu(neg(abs(x:f32[4])))",
    ),
    (
        "relu-positive",
        "relu(abs(tanh(relu(x:f32[4]))))",
        "relu(abs(x:f32[4]))",
    ),
    ("relu-unsigned", "relu(x:u8[4])", "relu(x:i8[4])"),
    (
        "maximum-zero-int",
        "maximum(x:i32[4], 0:i32[])",
        "maximum(x:i32[4], 1:i32[])",
    ),
    (
        "maximum-zero",
        "maximum(tanh(relu(x:f32[4])), 0:f32[])",
        "maximum(x:f32[4], 0:f32[])",
    ),
    (
        "maximum-zero-nnan",
        "maximum(x:f32[4], 0:f32[])",
        "maximum(x:f32[4], -0.0:f32[])",
    ),
    (
        "relu-abs-nnan",
        "relu(abs(x:f32[4]))",
        "relu(abs(x:i32[4]))",
    ),
    (
        "relu-of-scaled",
        "relu(mul(x:f32[64], 0.5:f32[]))",
        "relu(mul(x:f32[64], -1.5:f32[]))",
    ),
    (
        "relu-of-scaled",
        "div(relu(x:f32[64]), 3:f32[64])",
        "relu(div(x:f32[64], 0:f32[]))",
    ),
];
