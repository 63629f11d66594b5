//! Cases of `fusions.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "softmax-keepdims",
        "div(exp(sub(x:f32[2, 3], max(x, axes=[1], keepdims=true))), \
         sum(exp(sub(x, max(x, axes=[1], keepdims=true))), axes=[1], keepdims=true))",
        "div(exp(x:f32[2, 3]), sum(exp(x), axes=[1], keepdims=true))",
    ),
    (
        "softmax-reshape",
        "div(exp(sub(x:f32[2, 3], reshape(max(x, axes=[1]), new_shape=[2, 1]))), reshape(sum(exp(sub(x, \
         reshape(max(x, axes=[1]), new_shape=[2, 1]))), axes=[1]), new_shape=[2, 1]))",
        "div(exp(sub(x:f32[2, 2], reshape(max(x, axes=[1]), new_shape=[1, 2]))), reshape(sum(exp(sub(x, \
         reshape(max(x, axes=[1]), new_shape=[1, 2]))), axes=[1]), new_shape=[1, 2]))",
    ),
    (
        "softmax-expand",
        "div(exp(sub(x:f32[2, 3], expand_dims(max(x, axes=[1]), axes=[1]))), expand_dims(sum(exp(sub(x, \
         expand_dims(max(x, axes=[1]), axes=[1]))), axes=[1]), axes=[1]))",
        "div(exp(sub(x:f32[2, 2], expand_dims(max(x, axes=[1]), axes=[0]))), expand_dims(sum(exp(sub(x, \
         expand_dims(max(x, axes=[1]), axes=[0]))), axes=[1]), axes=[0]))",
    ),
    (
        "layernorm-keepdims",
        "div(sub(x:f32[2, 3], mean(x, axes=[1], keepdims=true)), sqrt(add(mean(mul(sub(x, mean(x, axes=[1], \
         keepdims=true)), sub(x, mean(x, axes=[1], keepdims=true))), axes=[1], keepdims=true), 1e-5:f32[])))",
        "div(sub(x:f32[2, 3], mean(x, axes=[1], keepdims=true)), sqrt(add(mean(mul(x, x), axes=[1], \
         keepdims=true), 1e-5:f32[])))",
    ),
    (
        "layernorm-reshape",
        "div(sub(x:f32[2, 3], reshape(mean(x, axes=[1]), new_shape=[2, 1])), sqrt(add(reshape(mean(mul(sub(x, \
         reshape(mean(x, axes=[1]), new_shape=[2, 1])), sub(x, reshape(mean(x, axes=[1]), new_shape=[2, 1]))), \
         axes=[1]), new_shape=[2, 1]), 1e-5:f32[])))",
        "div(sub(x:f32[2, 3], reshape(mean(x, axes=[1]), new_shape=[2, 1])), sqrt(add(reshape(mean(mul(x, x), \
         axes=[1]), new_shape=[2, 1]), 1e-5:f32[])))",
    ),
    (
        "layernorm-expand",
        "div(sub(x:f32[2, 3], expand_dims(mean(x, axes=[1]), axes=[1])), sqrt(add(expand_dims(mean(mul(sub(x, \
         expand_dims(mean(x, axes=[1]), axes=[1])), sub(x, expand_dims(mean(x, axes=[1]), axes=[1]))), \
         axes=[1]), axes=[1]), 1e-5:f32[])))",
        "div(sub(x:f32[2, 3], expand_dims(mean(x, axes=[1]), axes=[1])), sqrt(add(expand_dims(mean(mul(x, x), \
         axes=[1]), axes=[1]), 1e-5:f32[])))",
    ),
];
