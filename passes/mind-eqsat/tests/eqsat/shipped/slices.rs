//! Cases of `slices.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "slice-of-everything",
        "slice(x:f32[2, 3], starts=[0, 0], ends=[2, 3], steps=[1, 1])",
        "slice(x:f32[2, 3], starts=[0, 0], ends=[2, 2], steps=[1, 1])",
    ),
    (
        "slice-of-unary",
        "slice(relu(x:f32[4]), starts=[1], ends=[3], steps=[1])",
        "relu(x:f32[4]); slice(relu(x), starts=[1], ends=[3], steps=[1])",
    ),
    (
        "slice-ends",
        "slice(x:f32[9], starts=[1], ends=[9], steps=[3])",
        "slice(x:f32[8], starts=[3], ends=[2], steps=[1])",
    ),
    (
        "split-as-slice",
        "split(x:f32[2, 6], axis=-1, count=3, part=1)",
        "slice(x:f32[2, 6], starts=[0, 2], ends=[2, 4], steps=[1, 1])",
    ),
    (
        "slice-of-slice",
        "slice(slice(x:f32[20], starts=[1], ends=[18], steps=[3]), starts=[1], ends=[6], steps=[2])",
        "slice(slice(x:f32[20], starts=[1], ends=[18], steps=[3]), starts=[3], ends=[3], steps=[2])",
    ),
    (
        "slice-of-transpose",
        "slice(transpose(x:f32[4, 5, 6], permutation=[2, 0, 1]), starts=[1, 0, 2], ends=[6, 3, 5], steps=[2, 1, 1])",
        "slice(reshape(x:f32[4, 5], new_shape=[5, 4]), starts=[1, 0], ends=[5, 3], steps=[2, 1])",
    ),
    (
        "slice-of-binary",
        "slice(add(x:f32[8], y:f32[8]), starts=[1], ends=[3], steps=[1])",
        "add(x:f32[8], y:f32[8]); slice(add(x, y), starts=[1], ends=[3], steps=[1])",
    ),
    (
        "slice-of-scalar-rhs",
        "slice(mul(x:f32[8], y:f32[]), starts=[1], ends=[3], steps=[1])",
        "slice(mul(x:f32[8], y:f32[1]), starts=[1], ends=[3], steps=[1])",
    ),
    (
        "slice-of-biased",
        "slice(add(x:f32[4, 8], b:f32[8]), starts=[1, 4], ends=[3, 8], steps=[1, 2])",
        "slice(add(x:f32[4, 8], b:f32[1]), starts=[1, 4], ends=[3, 8], steps=[1, 2])",
    ),
    (
        "slice-of-quotient",
        "slice(div(x:f32[8], y:f32[8]), starts=[1], ends=[3], steps=[1])",
        "slice(div(x:i32[8], 3:i32[8]), starts=[1], ends=[3], steps=[1])",
    ),
    (
        "slice-of-softmax",
        "slice(softmax(x:f32[8, 3]), starts=[1, 0], ends=[3, 3], steps=[1, 1])",
        "slice(softmax(x:f32[8, 3]), starts=[1, 0], ends=[3, 2], steps=[1, 1])",
    ),
    (
        "slice-of-layernorm",
        "slice(layernorm(x:f32[8, 3]), starts=[1, 0], ends=[3, 3], steps=[1, 1])",
        "slice(layernorm(x:f32[8, 3]), starts=[1, 0], ends=[3, 2], steps=[1, 1])",
    ),
    (
        "index-of-unary",
        "index(exp(x:f32[8, 8]), indices=[3, 4])",
        "exp(x:f32[8, 8]); index(exp(x), indices=[3, 4])",
    ),
    (
        "index-of-binary",
        "index(sub(x:f32[8, 8], y:f32[8, 8]), indices=[3, 4])",
        "index(div(x:i32[8, 8], 3:i32[8, 8]), indices=[3, 4])",
    ),
    (
        "index-of-transpose",
        "index(transpose(x:f32[2, 3, 4], permutation=[2, 0, 1]), indices=[3, 1, 2])",
        "index(reshape(x:f32[2, 3], new_shape=[3, 2]), indices=[2, 1])",
    ),
];
