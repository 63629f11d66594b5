//! The forms that recognisers know: operand orders, groupings, ways to keep dimensions, dtypes.

use crate::fuse::{fuse_and_compare, groups};
use crate::support::dump;
use crate::text::module;

/// A recogniser, a module that it knows, and one that differs in what makes the name. Those without a
/// counterexample of their own share one.
pub const RECOGNISED: &[(&str, &str, &str)] = &[
    (
        "softmax",
        "x:f32[8, 9]; e = exp(sub(x, max(x, axes=[1], keepdims=true))) -> div(e, sum(e, axes=[1], keepdims=true))",
        "e = exp(x:f32[8, 9]) -> div(e, sum(e, axes=[1], keepdims=true))",
    ),
    (
        "softmax",
        "x:f32[8, 9]; e = exp(sub(x, max(x, axes=[-1], keepdims=true))) -> div(e, sum(e, axes=[1], keepdims=true))",
        "x:f32[9, 9]; e = exp(sub(x, max(x, axes=[0], keepdims=true))) -> div(e, sum(e, axes=[1], keepdims=true))",
    ),
    (
        "softmax",
        "x:f32[8, 9]; e = exp(sub(x, reshape(max(x, axes=[1]), new_shape=[8, 1]))) \
         -> div(e, reshape(sum(e, axes=[1]), new_shape=[8, 1]))",
        "x:f32[2, 2]; e = exp(sub(x, reshape(max(x, axes=[1]), new_shape=[1, 2]))) \
         -> div(e, reshape(sum(e, axes=[1]), new_shape=[1, 2]))",
    ),
    (
        "softmax",
        "x:f16[8, 9]; e = exp(sub(x, expand_dims(max(x, axes=[1]), axes=[1]))) \
         -> div(e, sum(e, axes=[1], keepdims=true))",
        "x:f16[2, 2]; e = exp(sub(x, expand_dims(max(x, axes=[1]), axes=[0]))) \
         -> div(e, sum(e, axes=[1], keepdims=true))",
    ),
    (
        "softmax-of-everything",
        "x:f32[64]; e = exp(sub(x, max(x))) -> div(e, sum(e))",
        "x:f32[64]; e = exp(sub(x, max(x))) -> div(e, sum(x))",
    ),
    (
        "layernorm",
        "x:f32[8, 9]; d = sub(x, mean(x, axes=[1], keepdims=true)) \
         -> div(d, sqrt(add(mean(mul(d, d), axes=[1], keepdims=true), 1e-5:f32[])))",
        "x:f32[8, 9]; d = sub(x, mean(x, axes=[1], keepdims=true)) \
         -> div(d, sqrt(add(mean(mul(x, x), axes=[1], keepdims=true), 1e-5:f32[])))",
    ),
    (
        "layernorm",
        "x:f32[8, 9]; d = sub(x, reshape(mean(x, axes=[1]), new_shape=[8, 1])) \
         -> mul(div(g:f32[9], sqrt(add(1e-5:f32[], expand_dims(mean(mul(d, d), axes=[1]), axes=[1])))), d)",
        "x:f32[8, 8]; d = sub(x, reshape(mean(x, axes=[1]), new_shape=[8, 1])) \
         -> mul(div(g:f32[8], sqrt(add(1e-5:f32[], expand_dims(mean(mul(d, d), axes=[1]), axes=[0])))), d)",
    ),
    (
        "layernorm-by-sums",
        "x:f32[8, 9]; n = 9:f32[]; d = sub(x, div(sum(x, axes=[1], keepdims=true), n)) \
         -> div(d, sqrt(add(div(sum(mul(d, d), axes=[1], keepdims=true), n), 1e-5:f32[])))",
        "x:f32[8, 9]; n = 9:f32[]; d = sub(x, div(sum(x, axes=[1], keepdims=true), n)) \
         -> div(d, sqrt(add(div(sum(mul(x, x), axes=[1], keepdims=true), n), 1e-5:f32[])))",
    ),
    (
        "rmsnorm",
        "x:f32[8, 9] -> mul(div(x, sqrt(add(mean(mul(x, x), axes=[1], keepdims=true), 1e-5:f32[]))), g:f32[9])",
        "x:f32[8, 9]; y:f32[8, 9] -> div(x, sqrt(add(mean(mul(y, y), axes=[1], keepdims=true), 1e-5:f32[])))",
    ),
    (
        "rmsnorm",
        "x:f32[8, 9]; v = mul(sum(mul(x, x), axes=[1], keepdims=true), 0.111:f32[]) \
         -> mul(x, div(g:f32[9], sqrt(add(1e-5:f32[], v))))",
        "x:f32[8, 9]; v = mul(sum(mul(x, x), axes=[0], keepdims=true), 0.111:f32[]) \
         -> mul(x, div(g:f32[9], sqrt(mul(v, 1e-5:f32[]))))",
    ),
    (
        "gelu-erf",
        "x:f32[64] -> mul(mul(0.5:f32[], x), add(1:f32[], erf(div(x, 1.4142135623730951:f32[]))))",
        "x:f32[64] -> mul(mul(0.5:f32[], x), add(1:f32[], erf(div(x, 1.5:f32[]))))",
    ),
    (
        "gelu-erf",
        "x:f16[64] -> mul(mul(add(erf(mul(0.7071067811865476:f16[], x)), 1:f16[]), x), 0.5:f16[])",
        "x:f16[64] -> mul(mul(add(erf(mul(0.7071067811865476:f16[], x)), 1:f16[]), x), 0.25:f16[])",
    ),
    (
        "gelu-erf",
        "x:f32[64] -> div(mul(x, add(1:f32[], erf(mul(x, 0.707107:f32[])))), 2:f32[])",
        "x:f32[64] -> div(mul(x, add(1:f32[], erf(mul(x, 0.7072:f32[])))), 2:f32[])",
    ),
    (
        "gelu-erf",
        "x:f32[64] -> mul(x, mul(0.5:f32[], add(1:f32[], erf(mul(x, 0.70710677:f32[])))))",
        "x:f32[64]; y:f32[64] -> mul(x, mul(0.5:f32[], add(1:f32[], erf(mul(y, 0.70710677:f32[])))))",
    ),
    (
        "gelu-tanh",
        "x:f32[64]; c = mul(0.044715:f32[], mul(x, mul(x, x))) \
         -> mul(mul(0.5:f32[], x), add(1:f32[], tanh(mul(0.7978845608:f32[], add(x, c)))))",
        "x:f32[64]; c = mul(0.044715:f32[], mul(x, x)) \
         -> mul(mul(0.5:f32[], x), add(1:f32[], tanh(mul(0.7978845608:f32[], add(x, c)))))",
    ),
    (
        "gelu-tanh",
        "x:f32[64]; c = mul(mul(mul(x, 0.044715:f32[]), x), x) \
         -> mul(mul(x, add(tanh(mul(add(c, x), 0.797885:f32[])), 1:f32[])), 0.5:f32[])",
        "x:f32[64]; c = mul(mul(mul(x, 0.044715:f32[]), x), x) \
         -> mul(mul(x, add(tanh(mul(add(c, x), 0.79:f32[])), 1:f32[])), 0.5:f32[])",
    ),
    (
        "gelu-tanh",
        "x:bf16[64]; f = add(1:bf16[], mul(0.044715:bf16[], mul(x, x))) \
         -> mul(mul(0.5:bf16[], x), add(1:bf16[], tanh(mul(mul(0.7978845608:bf16[], x), f))))",
        "x:bf16[64]; f = add(1:bf16[], mul(0.044715:bf16[], mul(x, x))) \
         -> mul(mul(0.5:bf16[], x), add(1:bf16[], tanh(mul(0.7978845608:bf16[], f))))",
    ),
    (
        "silu",
        "x:f32[64] -> mul(sigmoid(x), x)",
        "x:f32[64] -> mul(sigmoid(x), y:f32[64])",
    ),
    (
        "silu",
        "x:f32[64] -> div(x, add(exp(neg(x)), 1:f32[]))",
        "x:f32[64] -> div(x, add(exp(neg(x)), 2:f32[]))",
    ),
    (
        "silu",
        "x:f32[64] -> mul(x, div(1:f32[], add(1:f32[], exp(neg(x)))))",
        "x:f32[64] -> mul(x, div(1:f32[], add(1:f32[], exp(x))))",
    ),
    (
        "swiglu",
        "g:f32[8, 9] -> mul(u:f32[8, 9], mul(g, sigmoid(g)))",
        "g:f32[8, 9] -> mul(3:f32[8, 9], mul(g, sigmoid(g)))",
    ),
    (
        "swiglu",
        "g:f32[8, 9] -> mul(div(g, add(1:f32[], exp(neg(g)))), u:f32[8, 9])",
        "g:f32[8, 9] -> add(div(g, add(1:f32[], exp(neg(g)))), u:f32[8, 9])",
    ),
];

/// The kind that a recogniser gives.
fn kind(rule: &str) -> String {
    match rule.split_once('-') {
        Some(("softmax" | "layernorm", _)) => rule[..rule.find('-').unwrap()].to_owned(),
        _ => rule.replace('-', "_"),
    }
}

#[test]
fn every_form_becomes_one_group_of_its_kind() {
    for (rule, acts, _) in RECOGNISED {
        let g = fuse_and_compare(&module(acts));
        let kinds: Vec<String> = groups(&g).into_iter().map(|(kind, ..)| kind).collect();
        assert_eq!(kinds, [kind(rule)], "{acts}\n{}", dump(&g));
    }
}

#[test]
fn what_differs_gets_another_name() {
    for (rule, _, differs) in RECOGNISED {
        let g = fuse_and_compare(&module(differs));
        let kinds: Vec<String> = groups(&g).into_iter().map(|(kind, ..)| kind).collect();
        assert!(!kinds.contains(&kind(rule)), "{differs}\n{}", dump(&g));
    }
}
