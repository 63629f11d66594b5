//! Cases of `signs.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    ("neg-neg", "neg(neg(x:f32[4]))", "neg(abs(x:f32[4]))"),
    ("abs-neg", "abs(neg(x:i8[4]))", "abs(relu(x:i8[4]))"),
    ("abs-abs", "abs(abs(x:i8[4]))", "abs(tanh(x:f32[4]))"),
    ("abs-unsigned", "abs(x:u8[4])", "abs(x:i8[4])"),
    (
        "abs-square",
        "abs(mul(x:f32[4], x))",
        "abs(mul(x:i32[4], x))",
    ),
    (
        "add-neg",
        "add(neg(y:f32[4]), x:f32[4])",
        "add(y:f32[4], x:f32[4])",
    ),
    (
        "sub-neg",
        "sub(x:f32[4], neg(y:f32[4]))",
        "sub(neg(x:f32[4]), y:f32[4])",
    ),
    (
        "mul-neg-neg",
        "mul(neg(x:i32[4]), neg(y:i32[4]))",
        "mul(x:i32[4], abs(y:i32[4]))",
    ),
    (
        "div-neg-neg",
        "div(neg(x:f32[4]), neg(y:f32[4]))",
        "div(neg(x:i32[4]), neg(1:i32[4]))",
    ),
    (
        "neg-out-of-mul",
        "mul(neg(x:f32[4]), y:f32[4])",
        "mul(abs(x:f32[4]), y:f32[4])",
    ),
    (
        "neg-out-of-div",
        "div(neg(x:f32[4]), y:f32[4])",
        "div(x:f32[4], abs(y:f32[4]))",
    ),
    (
        "mul-minus-one",
        "mul(x:f32[4], -1:f32[])",
        "mul(x:f32[4], -2:f32[])",
    ),
    (
        "negative-zero-minus",
        "sub(-0.0:f32[], x:f32[4])",
        "sub(0.0:f32[], x:f32[4])",
    ),
    (
        "zero-minus",
        "sub(0:i32[], x:i32[4])",
        "sub(0:f32[], x:f32[4])",
    ),
    (
        "zero-minus-nsz",
        "sub(0:f32[], x:f32[4])",
        "sub(1:f32[], x:f32[4])",
    ),
    (
        "neg-of-sub",
        "neg(sub(x:i32[4], y:i32[4]))",
        "neg(sub(x:f32[4], y:f32[4]))",
    ),
    (
        "neg-of-sub-nsz",
        "neg(sub(x:f32[4], y:f32[4]))",
        "neg(div(x:f32[4], y:f32[4]))",
    ),
    (
        "matmul-neg-neg",
        "matmul(neg(x:f32[2, 3]), neg(y:f32[3, 2]))",
        "matmul(neg(x:f32[2, 3]), y:f32[3, 2])",
    ),
    (
        "neg-out-of-divisor",
        "neg(div(x:f32[4], neg(y:f32[4])))",
        "neg(div(x:i32[4], neg(3:i32[4])))",
    ),
    (
        "add-of-negs",
        "add(neg(x:i32[4]), neg(y:i32[4]))",
        "add(neg(x:f32[4]), neg(y:f32[4]))",
    ),
    (
        "add-of-negs-nsz",
        "add(neg(x:f32[4]), neg(y:f32[4]))",
        "add(neg(x:f32[4]), abs(y:f32[4]))",
    ),
    (
        "abs-of-mul",
        "abs(mul(x:f32[4], y:f32[4]))",
        "abs(mul(x:i32[4], y:i32[4]))",
    ),
    (
        "abs-of-div",
        "abs(div(x:f32[4], y:f32[4]))",
        "abs(sub(x:f32[4], y:f32[4]))",
    ),
    (
        "odd-functions",
        "tanh(neg(x:f32[64]))",
        "tanh(abs(x:f32[64]))",
    ),
    (
        "matmul-neg-lhs",
        "matmul(neg(x:i32[2, 3]), y:i32[3, 2])",
        "matmul(neg(x:f32[2, 3]), y:f32[3, 2])",
    ),
    (
        "matmul-neg-rhs",
        "matmul(x:i32[2, 3], neg(y:i32[3, 2]))",
        "matmul(x:f32[2, 3], neg(y:f32[3, 2]))",
    ),
    (
        "matmul-neg-lhs-nsz",
        "matmul(neg(x:f32[2, 3]), y:f32[3, 2])",
        "matmul(abs(x:f32[2, 3]), y:f32[3, 2])",
    ),
    (
        "matmul-neg-rhs-nsz",
        "matmul(x:f32[2, 3], neg(y:f32[3, 2]))",
        "matmul(x:f32[2, 3], abs(y:f32[3, 2]))",
    ),
];
