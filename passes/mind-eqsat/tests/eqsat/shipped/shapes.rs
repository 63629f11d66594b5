//! Cases of `shapes.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "reshape-of-reshape",
        "reshape(reshape(x:f32[2, 3], new_shape=[3, 2]), new_shape=[6])",
        "reshape(relu(x:f32[2, 3]), new_shape=[6])",
    ),
    (
        "reshape-of-axes",
        "reshape(expand_dims(x:f32[2, 3], axes=[1]), new_shape=[6])",
        "reshape(relu(x:f32[2, 3]), new_shape=[6])",
    ),
    (
        "axes-of-reshape",
        "expand_dims(reshape(x:f32[2, 3], new_shape=[6]), axes=[0])",
        "expand_dims(relu(x:f32[2, 3]), axes=[0])",
    ),
    (
        "axes-of-expand",
        "expand_dims(expand_dims(x:f32[2, 3], axes=[1]), axes=[0])",
        "expand_dims(relu(x:f32[2, 3]), axes=[0])",
    ),
    (
        "axes-of-squeeze",
        "expand_dims(squeeze(x:f32[2, 1], axes=[1]), axes=[0])",
        "expand_dims(relu(x:f32[2, 3]), axes=[0])",
    ),
    (
        "squeeze-of-expand",
        "squeeze(expand_dims(x:f32[2, 3], axes=[1]), axes=[1])",
        "squeeze(expand_dims(x:f32[1, 3], axes=[1]), axes=[0])",
    ),
    (
        "axes-as-reshape",
        "reshape(expand_dims(x:f32[2, 3], axes=[1]), new_shape=[6])",
        "reshape(transpose(x:f32[2, 3], permutation=[1, 0]), new_shape=[6])",
    ),
    (
        "axes-as-reshape",
        "squeeze(squeeze(x:f32[1, 3, 1], axes=[0]), axes=[1])",
        "relu(x:f32[1, 3, 1])",
    ),
    (
        "reshape-through-unary",
        "reshape(relu(reshape(x:f32[2, 3], new_shape=[6])), new_shape=[2, 3])",
        "reshape(sum(x:f32[2, 3], axes=[0]), new_shape=[1, 3])",
    ),
    (
        "reshape-through-binary",
        "reshape(add(reshape(x:f32[2, 3], new_shape=[6]), reshape(y:f32[2, 3], new_shape=[6])), new_shape=[2, 3])",
        "reshape(add(x:f32[2, 3], y:f32[3]), new_shape=[6])",
    ),
    (
        "reshape-through-scalar-rhs",
        "reshape(div(x:f32[2, 3], y:f32[]), new_shape=[6])",
        "reshape(div(x:f32[2, 3], y:f32[1]), new_shape=[6])",
    ),
    (
        "reshape-through-scalar-lhs",
        "reshape(div(y:f32[], x:f32[2, 3]), new_shape=[6])",
        "reshape(div(y:f32[1], x:f32[2, 3]), new_shape=[6])",
    ),
];
