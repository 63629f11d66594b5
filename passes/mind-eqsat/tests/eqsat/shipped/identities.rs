//! Cases of `identities.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "add-negative-zero",
        "add(x:f32[4], -0.0:f32[])",
        "add(x:f32[4], 0.0:f32[])",
    ),
    (
        "add-zero",
        "add(relu(x:f32[4]), 0:f32[])",
        "add(x:f32[4], 0:f32[])",
    ),
    (
        "add-zero",
        "add(0:i32[], x:i32[4])",
        "add(x:i32[1], 0:i32[4])",
    ),
    (
        "add-zero-nsz",
        "add(x:f32[4], 0:f32[])",
        "add(x:f32[4], 1:f32[])",
    ),
    (
        "sub-zero",
        "sub(x:f16[4], 0:f16[4])",
        "sub(0:f16[4], x:f16[4])",
    ),
    (
        "sub-negative-zero",
        "sub(abs(x:f32[4]), -0.0:f32[])",
        "sub(x:f32[4], -0.0:f32[])",
    ),
    (
        "sub-negative-zero-nsz",
        "sub(x:f32[4], -0.0:f32[])",
        "sub(x:f32[4], 1:f32[])",
    ),
    (
        "mul-one",
        "mul(1:bf16[4], x:bf16[2, 4])",
        "mul(1:bf16[2, 4], x:bf16[4])",
    ),
    (
        "div-one",
        "div(x:f32[4], 1:f32[])",
        "div(1:f32[], x:f32[4])",
    ),
    (
        "mul-by-zeros",
        "mul(x:i32[], 0:i32[4])",
        "mul(x:f32[], 0:f32[4])",
    ),
    (
        "mul-zero",
        "mul(x:i32[4], 0:i32[])",
        "mul(x:f32[4], 0:f32[])",
    ),
    (
        "mul-zero",
        "mul(sigmoid(relu(x:f32[4])), 0:f32[])",
        "mul(relu(x:f32[4]), 0:f32[])",
    ),
    (
        "mul-zero-fast",
        "mul(x:f32[4], 0:f32[])",
        "mul(x:f32[4], 1:f32[])",
    ),
    ("sub-self", "sub(x:i32[4], x)", "sub(x:f32[4], x)"),
    (
        "sub-self",
        "sub(tanh(relu(x:f32[4])), tanh(relu(x)))",
        "sub(relu(x:f32[4]), relu(x))",
    ),
    (
        "sub-self-nnan",
        "sub(x:f32[4], x)",
        "sub(x:f32[4], y:f32[4])",
    ),
    (
        "add-constants",
        "add(add(x:i32[4], 1:i32[]), 2:i32[])",
        "add(add(x:f32[4], 1:f32[]), 2:f32[])",
    ),
    (
        "mul-constants",
        "mul(mul(x:i32[4], 3:i32[]), 2:i32[])",
        "mul(mul(x:f32[4], 3:f32[]), 2:f32[])",
    ),
    (
        "div-power-of-two",
        "div(x:f16[4], 8:f16[])",
        "div(x:f16[4], 3:f16[])",
    ),
    (
        "maximum-self",
        "maximum(x:f32[4], x)",
        "maximum(x:f32[4], y:f32[4])",
    ),
    (
        "minimum-self",
        "minimum(x:f32[4], x)",
        "minimum(x:f32[4], y:f32[4])",
    ),
    (
        "maximum-absorbs-minimum",
        "maximum(x:i32[4], minimum(y:i32[4], x))",
        "maximum(x:f32[4], minimum(y:f32[4], x))",
    ),
    (
        "div-self-nnan",
        "div(x:f32[4], x)",
        "div(x:f32[4], y:f32[4])",
    ),
    (
        "sub-constant",
        "sub(x:f32[4], 3:f32[])",
        "sub(x:u8[4], 3:u8[])",
    ),
    (
        "mul-two",
        "mul(x:f16[4], 2:f16[])",
        "mul(x:f16[4], 3:f16[])",
    ),
    (
        "mul-two",
        "mul(x:u8[4], 2:u8[4])",
        "mul(x:i32[1], 2:i32[4])",
    ),
    (
        "add-double",
        "add(add(x:bf16[4], x), x)",
        "add(add(x:f32[4], x), y:f32[4])",
    ),
    (
        "mul-exact-constants",
        "mul(mul(x:f16[4], 4:f16[]), 1.5:f16[])",
        "mul(mul(x:f16[4], 0.5:f16[]), 2:f16[])",
    ),
    (
        "extremum-constants",
        "maximum(maximum(x:f32[4], 1:f32[]), -0.0:f32[])",
        "maximum(minimum(x:f32[4], 1:f32[]), 2:f32[])",
    ),
    (
        "extremum-again",
        "maximum(y:f32[4], maximum(x:f32[4], y))",
        "maximum(y:f32[4], minimum(x:f32[4], y))",
    ),
];
