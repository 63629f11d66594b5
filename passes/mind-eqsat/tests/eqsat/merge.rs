//! Several products merged into one.

use mind_ir::graph::Graph;
use mind_ir::random::Rng;

use crate::fold;
use crate::support::{assert_same, context, dump, folded, ops, shipped};
use crate::text::module;

fn fold_and_compare(text: &str) -> Graph {
    fold::fold_and_compare(&module(text))
}

fn count(g: &Graph, name: &str) -> usize {
    ops(g).iter().filter(|op| **op == name).count()
}

/// Returns a constant of this shape whose elements differ.
fn dense(seed: u64, rows: usize, columns: usize) -> String {
    let mut rng = Rng::new(seed);
    let elements: Vec<String> = (0..rows * columns)
        .map(|_| rng.below(97).to_string())
        .collect();
    format!("data[{}]:f32[{rows}, {columns}]", elements.join(", "))
}

#[test]
fn thin_products_of_one_large_matrix_become_one() {
    let (u, v, w) = (dense(1, 512, 1), dense(2, 512, 2), dense(3, 512, 1));
    let text = format!("matmul(x:f32[512, 512], {u}); matmul(x, {v}); matmul(x, {w})");
    let g = fold_and_compare(&text);
    assert_eq!(
        ops(&g),
        ["matmul", "slice", "slice", "slice"],
        "{}",
        dump(&g)
    );
}

#[test]
fn rows_times_one_large_matrix_become_one_product() {
    let g = fold_and_compare(
        "relu(matmul(x:f32[1, 512], w:f32[512, 512])); matmul(y:f32[2, 512], w); matmul(z:f32[1, 512], w)",
    );
    assert_eq!(count(&g, "matmul"), 1, "{}", dump(&g));
    assert_eq!(count(&g, "concat"), 1, "{}", dump(&g));
}

#[test]
fn inputs_that_a_merged_product_needs_move_up_in_their_order() {
    let before = module(
        "matmul(x:f32[1, 512], w:f32[512, 512]); relu(y:f32[4]); matmul(z:f32[1, 512], w); relu(v:f32[4])",
    );
    let mut g = before.clone();
    folded(&mut g, &context(&shipped()));
    let inputs = |g: &Graph| -> Vec<u64> {
        let inputs = g.ops(g.body()).filter(|&op| g.def(op).name == "core.input");
        inputs.map(|op| g.label(g.result(op))).collect()
    };
    assert_eq!(count(&g, "matmul"), 1, "{}", dump(&g));
    assert_eq!(inputs(&before), inputs(&g));
    assert_same(&before, &g);
}

#[test]
fn what_a_product_needs_of_another_is_not_merged_with_it() {
    let g = fold_and_compare(
        "matmul(matmul(x:f32[1, 256], w:f32[256, 256]), w); matmul(y:f32[1, 256], w)",
    );
    assert_eq!(count(&g, "matmul"), 2, "{}", dump(&g));
    let g = fold_and_compare(
        "matmul(relu(x:f32[1, 256]), w:f32[256, 256]); neg(matmul(y:f32[1, 256], w)); \
         matmul(relu(matmul(x, w)), w); matmul(neg(matmul(y, w)), w)",
    );
    assert_eq!(count(&g, "matmul"), 2, "{}", dump(&g));
}

#[test]
fn products_stay_apart_where_joining_costs_more() {
    let g = fold_and_compare(
        "matmul(x:f32[64, 64], u:f32[64, 64]); matmul(x, v:f32[64, 64]); matmul(x, w:f32[64, 64])",
    );
    assert_eq!(ops(&g), ["matmul", "matmul", "matmul"], "{}", dump(&g));
}

#[test]
fn merged_products_are_linear_in_their_number() {
    let mut text = String::from("matmul(x:f32[64, 64], y0:f32[64, 1])");
    for n in 1..200 {
        text += &format!("; matmul(x, y{n}:f32[64, 1])");
    }
    let rules = shipped();
    let mut g = module(&text);
    let report = folded(&mut g, &context(&rules));
    let rule = rules
        .names()
        .position(|name| name == "products-of-one-lhs")
        .unwrap();
    assert_eq!(report.rules[rule].applied, 200);
}
