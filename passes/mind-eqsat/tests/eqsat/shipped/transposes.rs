//! Cases of `transposes.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "transpose-of-transpose",
        "transpose(transpose(x:f32[2, 3, 4], permutation=[1, 2, 0]), permutation=[0, 2, 1])",
        "transpose(relu(x:f32[2, 3, 4]), permutation=[0, 2, 1])",
    ),
    (
        "transpose-of-transpose",
        "transpose(transpose(x:f32[2, 3, 4]), permutation=[1, 0, 2])",
        "transpose(neg(x:f32[2, 3, 4]))",
    ),
    (
        "transpose-through-unary",
        "transpose(relu(transpose(x:f32[2, 3])))",
        "transpose(sum(x:f32[2, 3, 4], axes=[0]))",
    ),
    (
        "transpose-through-binary",
        "transpose(add(transpose(x:f32[2, 3]), transpose(y:f32[2, 3])))",
        "transpose(add(x:f32[2, 3], y:f32[]))",
    ),
    (
        "transpose-through-scalar-rhs",
        "transpose(div(transpose(x:f32[2, 3]), y:f32[]))",
        "transpose(div(x:f32[2, 3], y:f32[1]))",
    ),
    (
        "transpose-through-scalar-lhs",
        "transpose(div(y:f32[], transpose(x:f32[2, 3])))",
        "transpose(div(y:f32[1], x:f32[2, 3]))",
    ),
    (
        "transpose-of-unit-axes",
        "transpose(x:f32[4, 1])",
        "transpose(x:f32[4, 2])",
    ),
    (
        "transpose-of-matmul",
        "transpose(matmul(transpose(x:f32[3, 2]), transpose(y:f32[4, 3])))",
        "transpose(matmul(x:f32[5, 2, 3], y:f32[5, 3, 4]), permutation=[0, 1, 2])",
    ),
    (
        "matmul-of-transposes",
        "matmul(transpose(x:f32[3, 2]), transpose(y:f32[4, 3]))",
        "matmul(x:f32[2, 3], transpose(y:f32[4, 3]))",
    ),
    (
        "transpose-of-unit-axes",
        "transpose(x:f32[4, 1, 3], permutation=[1, 0, 2])",
        "transpose(x:f32[4, 1, 3], permutation=[2, 0, 1])",
    ),
    (
        "transpose-through-binary",
        "transpose(add(transpose(x:f32[2, 3]), y:f32[3, 1]))",
        "transpose(add(x:f32[2, 3], y:f32[]))",
    ),
    (
        "transpose-through-bias-rhs",
        "transpose(add(transpose(x:f32[2, 3]), y:f32[2]))",
        "transpose(add(transpose(x:f32[2, 3]), y:f32[3, 2]))",
    ),
    (
        "transpose-through-bias-lhs",
        "transpose(sub(y:f32[2], transpose(x:f32[2, 3])))",
        "transpose(sub(transpose(x:f32[2, 3]), y:f32[]))",
    ),
    (
        "transpose-of-softmax",
        "transpose(softmax(transpose(x:f32[2, 3, 4]), axis=1), permutation=[1, 2, 0])",
        "transpose(layernorm(x:f32[2, 3, 4]), permutation=[1, 0, 2])",
    ),
    (
        "softmax-of-transpose",
        "transpose(softmax(transpose(x:f32[2, 3, 4]), axis=-1))",
        "softmax(relu(x:f32[2, 3]), axis=0)",
    ),
    (
        "transpose-through-layernorm",
        "layernorm(transpose(x:f32[2, 3, 4], permutation=[1, 0, 2]))",
        "layernorm(transpose(x:f32[2, 3, 4], permutation=[1, 2, 0]))",
    ),
    (
        "transpose-of-concat",
        "transpose(concat(transpose(x:f32[2, 3]), transpose(y:f32[4, 3]), axis=1))",
        "transpose(relu(x:f32[2, 3]))",
    ),
    (
        "concat-of-transposes",
        "concat(transpose(x:f32[2, 3]), transpose(y:f32[4, 3]), axis=-1)",
        "concat(transpose(x:f32[2, 3, 4], permutation=[2, 0, 1]), transpose(y:f32[2, 4, 3], permutation=[1, 0, 2]), axis=0)",
    ),
];
