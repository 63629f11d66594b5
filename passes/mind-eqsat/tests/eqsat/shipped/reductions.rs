//! Cases of `reductions.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "reduce-of-transpose",
        "sum(transpose(x:f32[3, 70, 4], permutation=[2, 0, 1]), axes=[1, 2])",
        "sum(transpose(x:f32[3, 70, 4], permutation=[2, 1, 0]), axes=[1, 2])",
    ),
    (
        "reduce-of-transpose",
        "sum(transpose(x:f32[3, 5, 4], permutation=[2, 1, 0]), axes=[1])",
        "sum(reshape(x:f32[3, 5], new_shape=[5, 3]), axes=[0])",
    ),
    (
        "reduce-of-transpose-kept",
        "sum(transpose(x:f32[3, 70, 4], permutation=[2, 0, 1]), axes=[1, 2], keepdims=true)",
        "sum(transpose(x:f32[3, 70, 4], permutation=[2, 1, 0]), axes=[1, 2], keepdims=true)",
    ),
    (
        "max-of-transpose",
        "max(transpose(x:f32[3, 5, 4], permutation=[2, 1, 0]), axes=[1, 2])",
        "max(relu(x:f32[3, 5, 4]), axes=[1, 2])",
    ),
    (
        "max-of-transpose-kept",
        "max(transpose(x:f32[3, 5, 4], permutation=[2, 1, 0]), axes=[1, 2], keepdims=true)",
        "max(relu(x:f32[3, 5, 4]), axes=[1, 2], keepdims=true)",
    ),
    (
        "reduce-of-reshape",
        "sum(reshape(x:f32[3, 50], new_shape=[50, 3]))",
        "sum(reshape(x:f32[3, 50], new_shape=[50, 3]), axes=[0])",
    ),
    (
        "reduce-adjacent-axes",
        "sum(x:f32[2, 10, 20], axes=[1, 2])",
        "sum(x:f32[2, 10, 20], axes=[0, 2])",
    ),
    (
        "reduce-keepdims",
        "mean(x:f32[2, 10, 20], axes=[1], keepdims=true)",
        "mean(x:f32[2, 10, 20], axes=[1])",
    ),
    (
        "reduce-then-expand",
        "expand_dims(mean(x:f32[2, 10, 20], axes=[1]), axes=[1])",
        "expand_dims(mean(x:f32[2, 10, 20], axes=[1]), axes=[2])",
    ),
    (
        "max-of-max",
        "max(max(x:f32[2, 3, 4], axes=[1]), axes=[1])",
        "max(sum(x:f32[2, 3, 4], axes=[1]), axes=[1])",
    ),
    (
        "max-of-max-kept",
        "max(max(x:f32[2, 3, 4], axes=[1], keepdims=true), axes=[2, 1], keepdims=true)",
        "max(sum(x:f32[2, 3], axes=[1], keepdims=true), axes=[0], keepdims=true)",
    ),
    (
        "max-of-one",
        "max(x:f32[4, 1], axes=[1])",
        "max(x:f32[4, 2], axes=[1])",
    ),
    (
        "sum-of-one",
        "sum(relu(x:f32[4, 1]), axes=[1])",
        "sum(x:f32[4, 1], axes=[1])",
    ),
    (
        "sum-of-one-nsz",
        "sum(x:f32[4, 1], axes=[1])",
        "sum(x:f32[4, 2], axes=[1])",
    ),
    (
        "max-of-shifted",
        "max(add(x:f32[4, 50], 1.5:f32[]), axes=[1])",
        "max(add(x:f32[4, 50], inf:f32[]), axes=[1])",
    ),
    (
        "max-of-shifted",
        "max(sub(x:f16[4, 50], 100:f16[]), axes=[1])",
        "max(sub(x:i8[4, 50], 100:i8[]), axes=[1])",
    ),
    (
        "max-of-scaled",
        "max(mul(x:f32[4, 50], 1.5:f32[]), axes=[1])",
        "max(mul(x:f32[4, 50], -1.5:f32[]), axes=[1])",
    ),
    (
        "max-of-relu",
        "max(relu(tanh(relu(x:f32[4, 50]))), axes=[1])",
        "max(relu(x:f32[4, 50]), axes=[1])",
    ),
    (
        "max-of-relu-nnan",
        "max(relu(x:f32[4, 50]), axes=[1])",
        "max(abs(x:f32[4, 50]), axes=[1])",
    ),
    (
        "max-of-concat",
        "max(concat(x:f32[4, 5], y:f32[4, 6], axis=1), axes=[-1])",
        "max(concat(x:f32[4, 5], y:f32[4, 5], axis=0), axes=[1])",
    ),
    (
        "reduce-of-concat",
        "sum(concat(x:f32[2, 5, 3], y:f32[2, 5, 4], axis=2), axes=[1])",
        "sum(concat(x:f32[2, 5, 3], y:f32[2, 5, 4], axis=2), axes=[2])",
    ),
    (
        "reduce-of-concat-kept",
        "sum(concat(x:f32[2, 5, 3], y:f32[2, 5, 4], axis=2), axes=[1], keepdims=true)",
        "sum(concat(x:f32[2, 5, 3], y:f32[2, 5, 4], axis=2), axes=[2], keepdims=true)",
    ),
    (
        "slice-of-reduction",
        "slice(sum(x:f32[8, 5, 9], axes=[1]), starts=[1, 2], ends=[3, 8], steps=[1, 2])",
        "sum(x:f32[8, 5, 9], axes=[1]); slice(sum(x, axes=[1]), starts=[1, 2], ends=[3, 8], steps=[1, 2])",
    ),
    (
        "mean-of-sum",
        "div(sum(x:f32[4, 70], axes=[1]), 70:f32[])",
        "div(sum(x:f32[4, 70], axes=[1]), 71:f32[])",
    ),
    (
        "mean-of-sum",
        "div(sum(x:f64[4, 70], axes=[1]), 70:f64[])",
        "div(sum(x:f16[4, 70], axes=[1]), 70:f16[])",
    ),
    (
        "sum-of-neg",
        "sum(neg(x:i32[4, 7]), axes=[1])",
        "sum(neg(x:f32[4, 7]), axes=[1])",
    ),
    (
        "sum-of-neg-nsz",
        "sum(neg(x:f32[4, 7]), axes=[1])",
        "sum(abs(x:f32[4, 7]), axes=[1])",
    ),
    (
        "sum-of-sum-int",
        "sum(sum(x:i32[2, 3, 4], axes=[1]), axes=[0])",
        "sum(sum(x:f32[2, 3, 4], axes=[1]), axes=[0])",
    ),
    (
        "sum-of-sum",
        "sum(sum(x:f32[2, 3, 4], axes=[1]), axes=[0])",
        "sum(max(x:f32[2, 3, 4], axes=[1]), axes=[0])",
    ),
    (
        "reduce-of-transpose-reassociate",
        "sum(transpose(x:f32[3, 70, 4], permutation=[2, 1, 0]), axes=[1, 2])",
        "sum(abs(x:f32[3, 70, 4]), axes=[1, 2])",
    ),
    (
        "sum-of-add-int",
        "sum(add(x:i32[3, 4], y:i32[3, 4]), axes=[1])",
        "sum(add(x:i32[3, 4], y:i32[4]), axes=[1])",
    ),
    (
        "sum-of-add",
        "sum(add(x:f32[3, 4], y:f32[3, 4]), axes=[1])",
        "sum(add(x:f32[3, 4], y:f32[4]), axes=[1])",
    ),
    (
        "sum-of-scaled-int",
        "sum(mul(x:i32[3, 4], c:i32[]), axes=[1])",
        "sum(mul(x:i32[3, 4], c:i32[4]), axes=[1])",
    ),
    (
        "sum-of-scaled",
        "sum(mul(x:f32[3, 4], c:f32[]), axes=[1])",
        "sum(mul(x:f32[3, 4], c:f32[4]), axes=[1])",
    ),
    (
        "sum-of-concat-int",
        "sum(concat(x:i32[3, 4], y:i32[3, 5], axis=1), axes=[1])",
        "sum(concat(x:i32[3, 4], y:i32[3, 4], axis=0), axes=[1])",
    ),
    (
        "sum-of-concat",
        "sum(concat(x:f32[3, 4], y:f32[3, 5], axis=1), axes=[1])",
        "sum(concat(x:f32[3, 4], y:f32[3, 4], axis=0), axes=[1])",
    ),
];
