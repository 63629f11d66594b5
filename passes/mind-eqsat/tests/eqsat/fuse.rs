//! Fusion.

use mind_core::ops::fused::Fused;
use mind_ir::OpId;
use mind_ir::graph::Graph;

use crate::support::{assert_same, context, dump, fused, names, ops, shipped};
use crate::text::module;

/// Returns the fused ops of the body: the kind, the number of operands and the names of the ops inside.
pub fn groups(g: &Graph) -> Vec<(String, usize, Vec<&'static str>)> {
    let fused = |op: OpId| g.view::<Fused>(op);
    let shown = |op: Fused| {
        let kind = g.name(op.kind(g)).to_owned();
        (kind, op.inputs(g).len(), names(g, op.body(g)))
    };
    g.ops(g.body()).filter_map(fused).map(shown).collect()
}

pub fn fuse_and_compare(before: &Graph) -> Graph {
    let rules = shipped();
    let mut g = before.clone();
    let report = fused(&mut g, &context(&rules));
    assert_eq!(report.fused.len(), groups(&g).len(), "{}", dump(&g));
    assert_same(before, &g);
    g
}

#[test]
fn a_product_read_twice_is_computed_once() {
    let g = fuse_and_compare(&module(
        "y = matmul(x:f32[256, 256], w:f32[256, 256]) -> relu(y); neg(y)",
    ));
    let products = dump(&g).matches("core.matmul").count();
    assert_eq!(products, 1, "{}", dump(&g));
}

#[test]
fn groups_that_read_each_other_stay_apart() {
    let g = fuse_and_compare(&module(
        "a = relu(x:f32[64, 64]); b = relu(y:f32[32, 32]) -> add(a, sum(b)); add(b, sum(a))",
    ));
    assert!(ops(&g).len() >= 3, "{}", dump(&g));
}

#[test]
fn fusing_twice_changes_nothing_more() {
    let mut g = fuse_and_compare(&module(
        "y = relu(matmul(x:f32[32, 32], w:f32[32, 32])); \
         e = exp(sub(y, max(y, axes=[-1], keepdims=true))); \
         s = div(e, sum(e, axes=[-1], keepdims=true)); d = sub(s, mean(s, axes=[-1], keepdims=true)) \
         -> div(d, sqrt(add(mean(mul(d, d), axes=[-1], keepdims=true), 1e-5:f32[])))",
    ));
    let once = dump(&g);
    let rules = shipped();
    let report = fused(&mut g, &context(&rules));
    assert!(!report.changed, "{once}\n{}", dump(&g));
    assert_eq!(once, dump(&g));
}
