//! Fusion.

use mind_core::ops::fused::Fused;
use mind_ir::graph::Graph;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};

use crate::support::{Module, assert_same, context, dump, fused, names, ops, shipped};

/// The fused ops of the body: kind, operands and the names of the ops inside.
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
fn residual_block_becomes_one_op() {
    let mut m = Module::new();
    let x = m.input(DType::F16, &[128, 128]);
    let w = m.input(DType::F16, &[128, 128]);
    let b = m.input(DType::F16, &[128]);
    let v3 = m.op("matmul", &[x, w]);
    let v4 = m.op("add", &[v3, b]);
    let v5 = m.op("relu", &[v4]);
    let v6 = m.op("add", &[v5, x]);
    let g = fuse_and_compare(&m.outputs(&[v6]));
    assert_eq!(ops(&g), ["fused"]);
    let expected = vec!["matmul", "add", "relu", "add"];
    assert_eq!(
        groups(&g),
        [("contraction".to_owned(), 3, expected)],
        "{}",
        dump(&g)
    );
}

fn softmax_keepdims(m: &mut Module, x: ValueId) -> ValueId {
    let max = m.reduce("max", x, &[-1], true);
    let centred = m.op("sub", &[x, max]);
    let e = m.op("exp", &[centred]);
    let sum = m.reduce("sum", e, &[-1], true);
    m.op("div", &[e, sum])
}

#[test]
fn softmax_written_out_is_one_group() {
    let mut m = Module::new();
    let x = m.f32(&[8, 16]);
    let y = softmax_keepdims(&mut m, x);
    let g = fuse_and_compare(&m.outputs(&[y]));
    let expected = vec!["max", "sub", "exp", "sum", "div"];
    assert_eq!(
        groups(&g),
        [("softmax".to_owned(), 1, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn softmax_with_reshaped_reductions_is_one_group() {
    let mut m = Module::new();
    let x = m.f32(&[8, 16]);
    let max = m.reduce("max", x, &[1], false);
    let max = m.reshape(max, &[8, 1]);
    let centred = m.op("sub", &[x, max]);
    let e = m.op("exp", &[centred]);
    let sum = m.reduce("sum", e, &[1], false);
    let sum = m.reshape(sum, &[8, 1]);
    let y = m.op("div", &[e, sum]);
    let g = fuse_and_compare(&m.outputs(&[y]));
    let expected = vec!["max", "sub", "exp", "sum", "div"];
    assert_eq!(
        groups(&g),
        [("softmax".to_owned(), 1, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn softmax_over_another_axis_than_its_maximum_is_none() {
    let mut m = Module::new();
    let x = m.f32(&[8, 8]);
    let max = m.reduce("max", x, &[0], true);
    let centred = m.op("sub", &[x, max]);
    let e = m.op("exp", &[centred]);
    let sum = m.reduce("sum", e, &[1], true);
    let y = m.op("div", &[e, sum]);
    let g = fuse_and_compare(&m.outputs(&[y]));
    assert!(
        groups(&g).iter().all(|(kind, ..)| kind != "softmax"),
        "{}",
        dump(&g)
    );
}

fn layernorm(m: &mut Module, x: ValueId) -> ValueId {
    let mean = m.reduce("mean", x, &[-1], true);
    let d = m.op("sub", &[x, mean]);
    let square = m.op("mul", &[d, d]);
    let variance = m.reduce("mean", square, &[-1], true);
    let eps = m.scalar(1e-5);
    let shifted = m.op("add", &[variance, eps]);
    let root = m.op("sqrt", &[shifted]);
    m.op("div", &[d, root])
}

#[test]
fn layernorm_takes_gamma_and_beta_along() {
    let mut m = Module::new();
    let (x, gamma, beta) = (m.f32(&[8, 16]), m.f32(&[16]), m.f32(&[16]));
    let y = layernorm(&mut m, x);
    let y = m.op("mul", &[y, gamma]);
    let y = m.op("add", &[y, beta]);
    let g = fuse_and_compare(&m.outputs(&[y]));
    let expected = vec![
        "mean", "sub", "mul", "mean", "add", "sqrt", "div", "mul", "add",
    ];
    assert_eq!(
        groups(&g),
        [("layernorm".to_owned(), 3, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn a_transposed_operand_is_read_through() {
    let mut m = Module::new();
    let (x, k) = (m.f32(&[64, 32]), m.f32(&[64, 32]));
    let t = m.transpose(k, &[1, 0]);
    let y = m.op("matmul", &[x, t]);
    let g = fuse_and_compare(&m.outputs(&[y]));
    let expected = vec!["transpose", "matmul"];
    assert_eq!(
        groups(&g),
        [("contraction".to_owned(), 2, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn a_product_read_twice_is_computed_once() {
    let mut m = Module::new();
    let (x, w) = (m.f32(&[256, 256]), m.f32(&[256, 256]));
    let y = m.op("matmul", &[x, w]);
    let a = m.op("relu", &[y]);
    let b = m.op("neg", &[y]);
    let g = fuse_and_compare(&m.outputs(&[a, b]));
    let products = dump(&g).matches("core.matmul").count();
    assert_eq!(products, 1, "{}", dump(&g));
}

#[test]
fn what_repeats_the_product_stays_outside() {
    let mut m = Module::new();
    let (x, w, stack) = (m.f32(&[32, 16]), m.f32(&[16, 8]), m.f32(&[5, 32, 8]));
    let y = m.op("matmul", &[x, w]);
    let y = m.op("relu", &[y]);
    let z = m.op("add", &[y, stack]);
    let g = fuse_and_compare(&m.outputs(&[z]));
    assert_eq!(ops(&g), ["fused", "add"]);
    let expected = vec!["matmul", "relu"];
    assert_eq!(
        groups(&g),
        [("contraction".to_owned(), 2, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn an_elementwise_dag_is_one_group() {
    let mut m = Module::new();
    let (x, y) = (m.f32(&[512, 512]), m.f32(&[512, 512]));
    let a = m.op("mul", &[x, y]);
    let b = m.op("exp", &[a]);
    let c = m.op("relu", &[a]);
    let d = m.op("sub", &[b, c]);
    let g = fuse_and_compare(&m.outputs(&[d]));
    let expected = vec!["mul", "exp", "relu", "sub"];
    assert_eq!(
        groups(&g),
        [("elementwise".to_owned(), 2, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn a_reduction_takes_its_producer_along() {
    let mut m = Module::new();
    let x = m.f32(&[64, 256]);
    let a = m.op("mul", &[x, x]);
    let s = m.reduce("sum", a, &[1], false);
    let r = m.op("sqrt", &[s]);
    let g = fuse_and_compare(&m.outputs(&[r]));
    let expected = vec!["mul", "sum", "sqrt"];
    assert_eq!(
        groups(&g),
        [("reduction".to_owned(), 1, expected)],
        "{}",
        dump(&g)
    );
}

#[test]
fn groups_that_read_each_other_stay_apart() {
    let mut m = Module::new();
    let (x, y) = (m.f32(&[64, 64]), m.f32(&[32, 32]));
    let a1 = m.op("relu", &[x]);
    let b1 = m.op("relu", &[y]);
    let sum_b = m.reduce("sum", b1, &[], false);
    let sum_a = m.reduce("sum", a1, &[], false);
    let a2 = m.op("add", &[a1, sum_b]);
    let b2 = m.op("add", &[b1, sum_a]);
    let g = fuse_and_compare(&m.outputs(&[a2, b2]));
    assert!(ops(&g).len() >= 3, "{}", dump(&g));
}

#[test]
fn fusing_twice_changes_nothing_more() {
    let mut m = Module::new();
    let (x, w) = (m.f32(&[32, 32]), m.f32(&[32, 32]));
    let y = m.op("matmul", &[x, w]);
    let y = m.op("relu", &[y]);
    let y = softmax_keepdims(&mut m, y);
    let y = layernorm(&mut m, y);
    let mut g = fuse_and_compare(&m.outputs(&[y]));
    let once = dump(&g);
    let rules = shipped();
    let report = fused(&mut g, &context(&rules));
    assert!(!report.changed, "{once}\n{}", dump(&g));
    assert_eq!(once, dump(&g));
}
