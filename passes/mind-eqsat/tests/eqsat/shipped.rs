//! Every shipped rule acts where it may, keeps the bits, and does not act where it may not.

use mind_eqsat::{FastMath, RuleSet, fold, fuse};
use mind_ir::graph::Graph;

use crate::support::{assert_same, check, context, dump, shipped};
use crate::text::module;

/// A rule, a module on which it acts, and one that differs in what the rule asks for. A rule for several
/// ops is shown on the first; `EVERY_OP` goes through the others.
const CASES: &[(&str, &str, &str)] = &[
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
        "div(x:f32[4], neg(y:f32[4]))",
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
        "max-of-max",
        "max(max(x:f32[2, 3], axes=[1], keepdims=true), axes=[1], keepdims=true)",
        "max(max(x:f32[2, 3], axes=[1], keepdims=true), axes=[0], keepdims=true)",
    ),
    (
        "reshape-of-reshape",
        "reshape(reshape(x:f32[2, 3], new_shape=[3, 2]), new_shape=[6])",
        "reshape(relu(x:f32[2, 3]), new_shape=[6])",
    ),
    (
        "reshape-of-axes",
        "reshape(expand_dims(x:f32[2, 3], axes=[1]), new_shape=[6])",
        "reshape(transpose(x:f32[2, 3], permutation=[1, 0]), new_shape=[6])",
    ),
    (
        "axes-of-reshape",
        "expand_dims(reshape(x:f32[2, 3], new_shape=[6]), axes=[0])",
        "expand_dims(relu(x:f32[2, 3]), axes=[0])",
    ),
    (
        "squeeze-of-expand",
        "squeeze(expand_dims(x:f32[2, 3], axes=[1]), axes=[1])",
        "squeeze(expand_dims(x:f32[1, 3], axes=[1]), axes=[0])",
    ),
    (
        "squeeze-of-squeeze",
        "squeeze(squeeze(x:f32[1, 3, 1], axes=[0]), axes=[1])",
        "squeeze(relu(x:f32[1, 3, 1]), axes=[0])",
    ),
    (
        "expand-of-expand",
        "expand_dims(expand_dims(x:f32[3], axes=[0]), axes=[2])",
        "expand_dims(relu(x:f32[3]), axes=[0])",
    ),
    (
        "slice-of-everything",
        "slice(x:f32[2, 3], starts=[0, 0], ends=[2, 3], steps=[1, 1])",
        "slice(x:f32[2, 3], starts=[0, 0], ends=[2, 2], steps=[1, 1])",
    ),
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
        "transpose(add(x:f32[2, 3], y:f32[3]))",
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
        "split-of-concat-first",
        "split(concat(x:f32[2, 3], y:f32[2, 3], axis=1), axis=1, count=2, part=0)",
        "split(concat(x:f32[2, 3], y:f32[2, 3], axis=0), axis=1, count=3, part=0)",
    ),
    (
        "split-of-concat-second",
        "split(concat(x:f32[2, 3], y:f32[2, 3], axis=1), axis=1, count=2, part=1)",
        "split(concat(x:f32[2, 3], y:f32[2, 1], axis=1), axis=1, count=2, part=1)",
    ),
    (
        "concat-of-split",
        "concat(split(x:f32[4], axis=0, count=2, part=0), split(x, axis=0, count=2, part=1), axis=0)",
        "concat(split(x:f32[4], axis=0, count=2, part=1), split(x, axis=0, count=2, part=0), axis=0)",
    ),
    (
        "slice-of-concat-first",
        "slice(concat(x:f32[3], y:f32[4], axis=0), starts=[1], ends=[3], steps=[1])",
        "slice(concat(x:f32[3], y:f32[4], axis=0), starts=[1], ends=[4], steps=[1])",
    ),
    (
        "slice-of-concat-second",
        "slice(concat(x:f32[3], y:f32[4], axis=-1), starts=[3], ends=[6], steps=[2])",
        "slice(concat(x:f32[3], y:f32[4], axis=-1), starts=[2], ends=[6], steps=[2])",
    ),
    (
        "concat-of-unary",
        "concat(relu(x:f32[3]), relu(y:f32[4]), axis=0)",
        "concat(relu(x:f32[3]), abs(y:f32[4]), axis=0)",
    ),
    (
        "slice-of-unary",
        "slice(relu(x:f32[4]), starts=[1], ends=[3], steps=[1])",
        "relu(x:f32[4]); slice(relu(x), starts=[1], ends=[3], steps=[1])",
    ),
    (
        "matmul-concat-columns",
        "concat(matmul(x:f32[2, 3], y:f32[3, 4]), matmul(x, z:f32[3, 5]), axis=1)",
        "concat(matmul(x:f32[2, 3], y:f32[3, 4]), matmul(x, z:f32[3, 4]), axis=0)",
    ),
    (
        "matmul-concat-rows",
        "concat(matmul(y:f32[4, 3], x:f32[3, 2]), matmul(z:f32[5, 3], x), axis=0)",
        "concat(matmul(y:f32[4, 3], x:f32[3, 2]), matmul(z:f32[4, 3], x), axis=1)",
    ),
    (
        "dot-of-matrices",
        "dot(x:f32[2, 3], y:f32[3, 4])",
        "dot(x:f32[2, 3], y:f32[3])",
    ),
    (
        "matmul-reassociate",
        "matmul(x:f32[9, 2], matmul(y:f32[2, 9], z:f32[9, 2]))",
        "matmul(x:f32[9, 2], relu(y:f32[2, 9]))",
    ),
    (
        "add-reassociate",
        "add(x:f32[4], add(y:f32[4], z:f32[4]))",
        "add(x:f32[4], sub(y:f32[4], z:f32[4]))",
    ),
    (
        "mul-factor-out",
        "add(mul(x:f32[4], y:f32[4]), mul(x, z:f32[4]))",
        "add(mul(x:f32[4], y:f32[4]), mul(w:f32[4], z:f32[4]))",
    ),
    (
        "mul-constants-reassociate",
        "mul(mul(x:f32[4], 3:f32[]), 5:f32[])",
        "mul(mul(x:f32[4], y:f32[]), 5:f32[])",
    ),
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

/// The rules that change bits, with the classes that allow them.
fn classes(rule: &str) -> FastMath {
    match rule {
        "mul-zero-fast" => FastMath::NSZ.union(FastMath::NNAN),
        rule if rule.ends_with("-nsz") => FastMath::NSZ,
        rule if rule.ends_with("-nnan") => FastMath::NNAN,
        "matmul-reassociate"
        | "add-reassociate"
        | "mul-factor-out"
        | "mul-constants-reassociate" => FastMath::REASSOC,
        _ => FastMath::EXACT,
    }
}

fn fusion(rule: &str) -> bool {
    rule.starts_with("softmax-") || rule.starts_with("layernorm-")
}

/// How often `rule` made something equal, or named a group.
fn applied(rules: &RuleSet, rule: &str, g: &mut Graph) -> usize {
    let cx = mind_eqsat::Context {
        classes: classes(rule),
        ..context(rules)
    };
    let report = if fusion(rule) {
        fuse(g, &cx)
    } else {
        fold(g, &cx)
    };
    check(g);
    let index = rules.names().position(|name| name == rule);
    report.rules[index.unwrap_or_else(|| panic!("no rule {rule}"))].applied
}

#[test]
fn every_rule_acts_on_its_case_and_keeps_the_bits() {
    let rules = shipped();
    for (rule, acts, _) in CASES {
        let before = module(acts);
        let mut g = before.clone();
        assert!(
            applied(&rules, rule, &mut g) > 0,
            "{rule} does not act on {acts}\n{}",
            dump(&g)
        );
        if classes(rule) == FastMath::EXACT {
            assert_same(&before, &g);
        }
    }
}

#[test]
fn no_rule_acts_on_its_counterexample() {
    let rules = shipped();
    for (rule, _, differs) in CASES {
        let before = module(differs);
        let mut g = before.clone();
        assert_eq!(
            applied(&rules, rule, &mut g),
            0,
            "{rule} acts on {differs}\n{}",
            dump(&g)
        );
    }
}

#[test]
fn rules_that_change_bits_wait_for_their_class() {
    let rules = shipped();
    for (rule, acts, _) in CASES
        .iter()
        .filter(|(rule, ..)| classes(rule) != FastMath::EXACT)
    {
        let before = module(acts);
        let mut g = before.clone();
        let report = fold(&mut g, &context(&rules));
        let index = rules.names().position(|name| name == *rule).unwrap();
        assert_eq!(report.rules[index].matched, 0, "{rule}");
        assert_same(&before, &g);
    }
}

#[test]
fn every_rule_has_a_case() {
    let rules = shipped();
    let missing: Vec<&str> = rules
        .names()
        .filter(|name| !CASES.iter().any(|(rule, ..)| rule == name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(
        CASES
            .iter()
            .all(|(rule, ..)| rules.names().any(|name| name == *rule))
    );
}

/// What a rule written for several ops does to each of them, `OP` standing for it.
const EVERY_OP: &[(&str, &str, &[&str])] = &[
    (
        "transpose-through-unary",
        "transpose(OP(transpose(x:f32[2, 3])))",
        UNARY,
    ),
    (
        "transpose-through-binary",
        "transpose(OP(transpose(x:f32[2, 3]), transpose(y:f32[2, 3])))",
        BINARY,
    ),
    (
        "transpose-through-scalar-rhs",
        "transpose(OP(transpose(x:f32[2, 3]), y:f32[]))",
        BINARY,
    ),
    (
        "transpose-through-scalar-lhs",
        "transpose(OP(y:f32[], transpose(x:f32[2, 3])))",
        &["sub", "div"],
    ),
    (
        "concat-of-unary",
        "concat(OP(x:f32[3]), OP(y:f32[4]), axis=0)",
        UNARY,
    ),
    (
        "slice-of-unary",
        "slice(OP(x:f32[4]), starts=[1], ends=[3], steps=[1])",
        UNARY,
    ),
];

const UNARY: &[&str] = &[
    "neg", "abs", "relu", "exp", "log", "sqrt", "erf", "sigmoid", "tanh", "gelu",
];
const BINARY: &[&str] = &["add", "sub", "mul", "div", "maximum", "minimum"];

#[test]
fn rules_for_several_ops_act_on_each() {
    let rules = shipped();
    for (rule, text, ops) in EVERY_OP {
        for op in *ops {
            let before = module(&text.replace("OP", op));
            let mut g = before.clone();
            assert!(
                applied(&rules, rule, &mut g) > 0,
                "{rule} does not act on {op}"
            );
            assert_same(&before, &g);
        }
    }
}
