//! Groups by form and cost: which ops are fused, and why others are not.

use mind_core::ops::fused::Fused;
use mind_eqsat::{MissedReason, unfuse};
use mind_ir::opdef::Op;
use mind_snapshot::snapshot;

use crate::fuse::{fuse_and_compare, groups};
use crate::generate;
use crate::support::{assert_same, check, context, dump, fused, ops, shipped};
use crate::text::module;

/// Modules with groups of each form, and some without.
const MODULES: &[&str] = &[
    "add(relu(add(matmul(x:f16[128, 128], w:f16[128, 128]), b:f16[128])), x)",
    "matmul(x:f32[64, 32], transpose(k:f32[64, 32], permutation=[1, 0]))",
    "a = mul(x:f32[512, 512], y:f32[512, 512]) -> sub(exp(a), relu(a))",
    "x:f32[64, 256] -> sqrt(sum(mul(x, x), axes=[1]))",
    // An op that broadcasts the product is not fused.
    "add(relu(matmul(x:f32[32, 16], w:f32[16, 8])), stack:f32[5, 32, 8])",
    // Decomposed softmax and layer norm, with the ops that follow.
    "x:f32[8, 16]; e = exp(sub(x, max(x, axes=[-1], keepdims=true))) \
     -> div(e, sum(e, axes=[-1], keepdims=true))",
    "x:f32[8, 16]; e = exp(sub(x, reshape(max(x, axes=[1]), new_shape=[8, 1]))) \
     -> div(e, reshape(sum(e, axes=[1]), new_shape=[8, 1]))",
    "x:f32[8, 16]; d = sub(x, mean(x, axes=[-1], keepdims=true)); \
     r = sqrt(add(mean(mul(d, d), axes=[-1], keepdims=true), 1e-5:f32[])) \
     -> add(mul(div(d, r), gamma:f32[16]), beta:f32[16])",
    // Several outputs.
    "y = matmul(x:f32[64, 64], w:f32[64, 64]) -> relu(y); neg(y)",
    "y = exp(x:f32[64, 64]); z = add(y, x) -> y; tanh(z)",
    "x:f32[64, 64] -> relu(x); neg(x); abs(x)",
    "x:f32[64, 64]; s = mul(x, x) -> s; sum(s, axes=[1])",
    // Contractions: bias, computed residual, a convolution.
    "add(add(matmul(x:f32[64, 32], w:f32[32, 48]), b:f32[48]), relu(z:f32[64, 48]))",
    "relu(add(mul(conv2d(x:f32[1, 9, 9, 3], w:f32[3, 3, 3, 8]), s:f32[8]), b:f32[8]))",
    "x:f32[64, 64]; y = relu(x) -> add(matmul(y, w:f32[64, 64]), y)",
    "x:f32[64, 64] -> matmul(relu(x), w:f32[64, 64])",
    "matmul(matmul(x:f32[64, 64], w:f32[64, 64]), v:f32[64, 64])",
    // Rows.
    "x:f32[8, 64] -> sub(mean(mul(x, x), axes=[1]), mul(mean(x, axes=[1]), mean(x, axes=[1])))",
    "x:f32[8, 64] -> sub(x, expand_dims(mean(x, axes=[1]), axes=[1]))",
    "x:f32[8, 64] -> sub(x, mean(x, axes=[0]))",
    "x:f32[8, 64] -> sqrt(mean(mul(x, x), axes=[0]))",
    "x:f32[8, 64]; y = mul(x, x) -> y; mean(y, axes=[0])",
    "x:f32[4, 8, 4] -> sum(exp(x), axes=[0, 2])",
    "x:f32[8, 8] -> sub(x, mean(x, axes=[1]))",
    "x:f32[8, 64] -> add(sum(x, axes=[1], keepdims=true), sum(x, axes=[0], keepdims=true))",
    "add(softmax(add(x:f32[8, 64], y:f32[8, 64])), x)",
    "layernorm(add(x:f32[8, 64], y:f32[8, 64]))",
    "layernorm(softmax(x:f32[8, 64]))",
    "softmax(matmul(x:f32[64, 64], w:f32[64, 64]))",
    // Attention.
    "matmul(softmax(matmul(q:f32[16, 8], k:f32[8, 24])), v:f32[24, 8])",
    "matmul(softmax(mul(matmul(q:f32[2, 16, 8], transpose(k:f32[2, 24, 8], permutation=[0, 2, 1])), 0.35:f32[])), \
         v:f32[2, 24, 8])",
    "s = div(matmul(q:f32[2, 3, 16, 8], k:f32[2, 3, 8, 24]), 2.83:f32[]) \
         -> matmul(softmax(add(m:f32[16, 24], s)), v:f32[2, 3, 24, 8])",
    "s = add(mul(0.35:f32[], matmul(q:f32[16, 8], k:f32[8, 24])), m:f32[16, 24]); \
         e = exp(sub(s, reshape(max(s, axes=[1]), new_shape=[16, 1]))); \
         p = div(e, reshape(sum(e, axes=[1]), new_shape=[16, 1])) -> matmul(p, v:f32[24, 8])",
    "p = softmax(matmul(q:f32[16, 8], k:f32[8, 24])) -> p; add(matmul(p, v:f32[24, 8]), r:f32[16, 8])",
    // An op between the products reads another operand.
    "matmul(mul(softmax(matmul(q:f32[16, 8], k:f32[8, 24])), m:f32[16, 24]), v:f32[24, 8])",
    // A softmax along another axis, or as the right operand, does not match the rows of the product.
    "matmul(softmax(matmul(q:f32[16, 8], k:f32[8, 24]), axis=0), v:f32[24, 8])",
    "matmul(v:f32[8, 16], softmax(matmul(q:f32[16, 8], k:f32[8, 24])))",
];

#[test]
fn groups_have_the_forms_that_one_loop_nest_runs() {
    let shown = MODULES.iter().map(|text| {
        let g = fuse_and_compare(&module(text));
        let groups = groups(&g).into_iter();
        let groups =
            groups.map(|(kind, inputs, ops)| format!("  {kind} of {inputs}: {}\n", ops.join(", ")));
        format!(
            "{text}\n{}  left: {}\n",
            groups.collect::<String>(),
            ops(&g).join(", ")
        )
    });
    snapshot!(shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn records_say_what_a_group_saves() {
    let rules = shipped();
    let mut g =
        module("y = matmul(x:f32[64, 64], w:f32[64, 64]) -> relu(y); exp(add(y, b:f32[64]))");
    let report = fused(&mut g, &context(&rules));
    let [group] = report.fused.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!((group.kind.as_str(), group.results), ("contraction", 2));
    let members: Vec<&str> = group.members.iter().map(|member| member.op).collect();
    assert_eq!(
        members,
        ["core.matmul", "core.relu", "core.add", "core.exp"]
    );
    assert_eq!((group.ops, group.launches_saved), (4, 3));
    let square = 64 * 64 * 4;
    assert_eq!(group.bytes_before, (3 + 2 + 2 + 2) * square + 64 * 4);
    assert_eq!(group.bytes_after, 4 * square + 64 * 4);
    assert!(group.cost_after < group.cost_before);
    assert_eq!(
        report.cost_before - report.cost_after,
        group.cost_before - group.cost_after
    );
}

#[test]
fn savings_of_a_merge_grow_with_the_groups_and_never_fall() {
    // Each merge leaves one reader fewer outside, so that the value need not be stored once all readers have merged.
    // Edges are queued with savings of an earlier time; a debug assertion checks that they never fall.
    let rules = shipped();
    for readers in 1..6 {
        let values: Vec<String> = (0..readers)
            .map(|at| format!("r{at} = mul(y, x{at}:f32[64, 64])"))
            .collect();
        let results: Vec<String> = (0..readers).map(|at| format!("r{at}")).collect();
        let text = format!(
            "y = exp(x:f32[64, 64]); {} -> {}",
            values.join("; "),
            results.join("; ")
        );
        let mut g = module(&text);
        let report = fused(&mut g, &context(&rules));
        let [group] = report.fused.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!((group.ops, group.results), (readers + 1, readers));
        let square = 64 * 64 * 4;
        assert_eq!(
            group.bytes_before - group.bytes_after,
            square * (1 + readers as u64)
        );
    }
}

#[test]
fn a_refused_merge_has_its_places_and_a_reason() {
    let rules = shipped();
    let reason = |text: &str| {
        let mut g = module(text);
        let report = fused(&mut g, &context(&rules));
        let reasons: Vec<String> = report.missed.iter().map(|m| m.reason.to_string()).collect();
        assert_eq!(reasons.len(), 1, "{text}: {reasons:?}");
        report.missed[0].reason.clone()
    };
    let form = |text: &str| match reason(text) {
        MissedReason::Form(clash) => clash,
        other => panic!("{other}"),
    };
    assert_eq!(
        form("softmax(matmul(x:f32[64, 64], w:f32[64, 64]))"),
        "a product and a reduction run at different positions"
    );
    assert_eq!(
        form("matmul(relu(x:f32[64, 64]), w:f32[64, 64])"),
        "a product reads an operand that it would compute again for every tile"
    );
    assert_eq!(
        form("x:f32[8, 8] -> sub(x, mean(x, axes=[1]))"),
        "an op reads elements of other rows"
    );
    assert_eq!(
        form("layernorm(softmax(x:f32[8, 64]))"),
        "two normalisations keep their names"
    );
}

#[test]
fn caps_on_ops_and_operands_hold() {
    let rules = shipped();
    let mut g = module("exp(tanh(exp(tanh(exp(tanh(exp(x:f32[64])))))))");
    let mut cx = context(&rules);
    cx.limits.group_ops = 3;
    cx.limits.proposals = 1;
    let report = fused(&mut g, &cx);
    assert!(
        report.fused.iter().all(|group| group.ops <= 3),
        "{}",
        dump(&g)
    );
    assert!(
        report
            .missed
            .iter()
            .any(|missed| missed.reason == MissedReason::Ops(3))
    );

    let mut g = module("add(add(a:f32[64], b:f32[64]), add(c:f32[64], d:f32[64]))");
    let mut cx = context(&rules);
    cx.limits.group_operands = 3;
    let report = fused(&mut g, &cx);
    assert_eq!(report.fused.len(), 1, "{}", dump(&g));
    assert!(
        report
            .missed
            .iter()
            .any(|missed| missed.reason == MissedReason::Operands(3))
    );
}

#[test]
fn unfusing_is_the_inverse_of_fusing() {
    let rules = shipped();
    for seed in 5000..5060 {
        let before = generate::module(seed, 40, mind_ir::types::DType::F32);
        let mut g = before.clone();
        let report = fused(&mut g, &context(&rules));
        assert_eq!(unfuse(&mut g, Fused::DEF), report.fused.len());
        check(&mut g);
        assert_eq!(groups(&g), []);
        assert_same(&before, &g);
        assert_eq!(unfuse(&mut g, Fused::DEF), 0);
    }
}

#[test]
fn fusing_random_modules_twice_changes_nothing_more() {
    let rules = shipped();
    for seed in 6000..6120 {
        let mut g = generate::module(seed, 40, mind_ir::types::DType::F32);
        fused(&mut g, &context(&rules));
        let once = dump(&g);
        let report = fused(&mut g, &context(&rules));
        assert!(!report.changed, "seed {seed}\n{once}\n{}", dump(&g));
        assert_eq!(once, dump(&g));
    }
}
