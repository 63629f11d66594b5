//! Folding.

use mind_eqsat::{Context, KeptReason, Limits, Replacement};
use mind_ir::attr::{Attr, OPEN_END};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_rules::RuleSet;

use crate::support::{
    Module, assert_same, context, dump, folded, fused, names, ops, registry, run, shipped,
};
use crate::text::module;

pub fn fold_and_compare(before: &Graph) -> Graph {
    let rules = shipped();
    let mut g = before.clone();
    folded(&mut g, &context(&rules));
    assert_same(before, &g);
    g
}

#[test]
fn identities_go_and_double_transposes_compose() {
    let before = module(
        "relu(neg(neg(transpose(transpose(mul(x:f32[4, 6], 1:f32[]), permutation=[1, 0]), permutation=[1, 0]))))",
    );
    assert_eq!(ops(&fold_and_compare(&before)), ["relu"]);
}

#[test]
fn constants_fold_in_their_dtype() {
    let g = fold_and_compare(&module("add(x:f16[2], exp(mul(3:f16[], 0.1:f16[])))"));
    assert_eq!(ops(&g), ["add"]);
    let mut m = Module::new();
    let rows = m.constant(&Tensor::of(
        vec![2, 3],
        vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0],
    ));
    let sum = m.reduce("sum", rows, &[1], false);
    let x = m.f32(&[2]);
    let y = m.op("add", &[x, sum]);
    assert_eq!(ops(&fold_and_compare(&m.outputs(&[y]))), ["add"]);
}

#[test]
fn what_overflows_or_is_not_finite_is_left_to_run() {
    for text in [
        "add(x:i8[2], add(100:i8[], 100:i8[]))",
        "maximum(x:i32[2], neg(-2147483648:i32[]))",
        "add(x:f32[2], mul(3e38:f32[], 10:f32[]))",
        "add(x:f32[2], sqrt(-1:f32[]))",
        "add(x:f16[2], mul(65504:f16[], 2:f16[]))",
    ] {
        let g = fold_and_compare(&module(text));
        assert_eq!(ops(&g).len(), 2, "{text}\n{}", dump(&g));
    }
    let rules = shipped();
    let mut g = module("add(x:i32[2], div(1:i32[], 0:i32[]))");
    folded(&mut g, &context(&rules));
    assert_eq!(ops(&g), ["div", "add"]);
}

#[test]
fn an_index_out_of_bounds_is_left_to_fail() {
    let rules = shipped();
    let mut g = module("add(x:i32[2], index(5:i32[2, 2], indices=[7, 0]))");
    folded(&mut g, &context(&rules));
    assert_eq!(ops(&g), ["index", "add"]);
    let mut g = module("gather(5:i32[4], 5:i32[2])");
    folded(&mut g, &context(&rules));
    assert_eq!(ops(&g), ["gather"]);
}

#[test]
fn large_splats_fold_without_being_spelt_out() {
    let text = "add(x:f32[4096, 4096], relu(transpose(mul(2:f32[4096, 4096], 3:f32[]))))";
    let rules = shipped();
    let mut g = module(text);
    let report = folded(&mut g, &context(&rules));
    assert!(report.changed);
    assert!(ops(&g).len() < 4, "{}", dump(&g));
}

#[test]
fn equal_ops_become_one_and_keep_the_first_label() {
    let mut m = Module::new();
    let x = m.f32(&[4]);
    let a = m.op("exp", &[x]);
    let b = m.op("exp", &[x]);
    let y = m.op("sub", &[b, a]);
    let before = m.outputs(&[y, b, a]);
    let g = fold_and_compare(&before);
    assert_eq!(ops(&g), ["exp", "sub"]);
    assert_eq!(g.outputs()[1], g.outputs()[2]);
    assert_eq!(g.label(g.outputs()[1]), before.label(a));
}

#[test]
fn what_stays_keeps_its_op_and_what_is_replaced_its_label() {
    let mut m = Module::new();
    let x = m.f32(&[4]);
    let kept = m.op("exp", &[x]);
    let negated = m.op("neg", &[kept]);
    let replaced = m.op("abs", &[negated]);
    let last = m.op("tanh", &[replaced]);
    let before = m.outputs(&[last]);
    let g = fold_and_compare(&before);
    assert_eq!(ops(&g), ["exp", "abs", "tanh"]);
    let op = |value| g.defining_op(value).unwrap();
    let tanh = op(g.outputs()[0]);
    assert_eq!(tanh, before.defining_op(last).unwrap());
    let abs = op(g.operands(tanh)[0]);
    assert_eq!(g.label(g.result(abs)), before.label(replaced));
    assert_eq!(op(g.operands(abs)[0]), before.defining_op(kept).unwrap());
}

#[test]
fn declared_types_stay_where_the_shape_rule_knows_less() {
    let mut m = Module::new();
    let x = m.input_of(TensorType::new(DType::F32, [Dim::Dynamic, Dim::Fixed(3)]));
    let a = m.op("abs", &[x]);
    let b = m.op("neg", &[a]);
    let c = m.op("abs", &[b]);
    let known =
        m.g.intern_type(TensorType::fixed(DType::F32, &[3, 3]).view());
    m.g.declare(c, known);
    let before = m.outputs(&[c]);
    let rules = shipped();
    let mut g = before.clone();
    folded(&mut g, &context(&rules));
    assert_eq!(g.type_text(g.outputs()[0]), "f32[3, 3]");
}

#[test]
fn symbolic_extents_fold_and_unknown_ones_are_not_taken_as_equal() {
    let mut m = Module::new();
    let batch = Dim::Symbol(m.g.intern("B"));
    let x = m.input_of(TensorType::new(DType::F32, [batch, Dim::Fixed(4)]));
    let t = m.transpose(x, &[1, 0]);
    let t = m.transpose(t, &[1, 0]);
    let y = m.op("relu", &[t]);
    assert_eq!(ops(&fold_and_compare(&m.outputs(&[y]))), ["relu"]);

    let mut m = Module::new();
    let open =
        |m: &mut Module| m.input_of(TensorType::new(DType::F32, [Dim::Dynamic, Dim::Fixed(3)]));
    let (x, y) = (open(&mut m), open(&mut m));
    let sum = m.op("add", &[x, y]);
    let (starts, ends, steps) = ([0, 1], [OPEN_END, 3], [1, 1]);
    let lists = [&starts, &ends, &steps].map(|list: &[i64; 2]| Attr::Ints(list));
    let slice = m.op_with("slice", &[sum], &lists);
    assert_eq!(
        ops(&fold_and_compare(&m.outputs(&[slice]))),
        ["add", "slice"]
    );
}

#[test]
fn transposes_move_through_elementwise_ops_when_that_removes_them() {
    let text = "transpose(add(relu(transpose(x:f32[64, 32])), transpose(y:f32[64, 32])))";
    let g = fold_and_compare(&module(text));
    assert_eq!(ops(&g), ["relu", "add"]);
    let text = "transpose(matmul(transpose(x:f32[64, 32]), transpose(y:f32[16, 64])))";
    let g = fold_and_compare(&module(text));
    assert_eq!(ops(&g), ["matmul"], "{}", dump(&g));
}

#[test]
fn a_shared_transpose_is_not_bought_twice() {
    let before = module("transpose(x:f32[64, 32]); relu(transpose(x)); neg(transpose(x))");
    let g = fold_and_compare(&before);
    let transposes = ops(&g).iter().filter(|name| **name == "transpose").count();
    assert_eq!(transposes, 1, "{}", dump(&g));
}

#[test]
fn a_chain_of_doublings_stays_linear() {
    let mut m = Module::new();
    let mut x = m.f32(&[2]);
    for _ in 0..10_000 {
        x = m.op("add", &[x, x]);
    }
    let before = m.outputs(&[x]);
    let rules = shipped();
    let mut g = before.clone();
    folded(&mut g, &context(&rules));
    fused(&mut g, &context(&rules));
    assert_eq!(run(&before, 1).len(), run(&g, 1).len());
    assert!(run(&before, 1)[0].same_bits(&run(&g, 1)[0]));
}

#[test]
fn a_deep_chain_of_negations_folds_over_region_borders() {
    let mut m = Module::new();
    let mut x = m.f32(&[2]);
    for _ in 0..5_001 {
        x = m.op("neg", &[x]);
    }
    let g = fold_and_compare(&m.outputs(&[x]));
    assert_eq!(ops(&g), ["neg"]);
}

#[test]
fn a_constant_used_earlier_than_it_stands_is_moved() {
    let mut m = Module::new();
    let x = m.i32_input(&[4]);
    let (two, three) = (
        m.constant(&Tensor::scalar(2i32)),
        m.constant(&Tensor::scalar(3i32)),
    );
    let sum = m.op("add", &[x, two]);
    let sum = m.op("add", &[sum, three]);
    let five = m.constant(&Tensor::scalar(5i32));
    let last = m.op("maximum", &[sum, five]);
    let g = fold_and_compare(&m.outputs(&[last]));
    assert_eq!(ops(&g), ["add", "maximum"], "{}", dump(&g));
    let constants = dump(&g).matches("core.const").count();
    assert_eq!(constants, 1, "{}", dump(&g));
}

#[test]
fn a_new_constant_stands_before_its_first_reader() {
    let text = "neg(x:f32[64, 32]); neg(y:f32[64, 32]); div(z:f32[32, 64], 2:f32[]); \
                transpose(add(div(transpose(x), 2:f32[]), transpose(y)))";
    let g = fold_and_compare(&module(text));
    assert_eq!(ops(&g), ["neg", "neg", "mul", "mul", "add"], "{}", dump(&g));
}

#[test]
fn values_read_by_a_body_or_an_opaque_op_stay() {
    let rules = shipped();
    let mut m = Module::new();
    let (x, w) = (m.f32(&[8, 8]), m.f32(&[8, 8]));
    let y = m.op("matmul", &[x, w]);
    let y = m.op("relu", &[y]);
    let mut g = m.outputs(&[y]);
    fused(&mut g, &context(&rules));
    assert_eq!(ops(&g), ["fused"]);
    let before = g.clone();
    let report = folded(&mut g, &context(&rules));
    assert!(!report.changed);
    assert_eq!(dump(&before), dump(&g));
    let body = g
        .ops(g.body())
        .find(|&op| !g.regions(op).is_empty())
        .unwrap();
    assert_eq!(names(&g, g.block(g.regions(body)[0])), ["matmul", "relu"]);
}

#[test]
fn the_report_says_what_led_where() {
    let rules = shipped();
    let mut g = module("abs(neg(x:f32[4])); add(1:f32[], 2:f32[]); sub(x, 0:f32[])");
    let report = folded(&mut g, &context(&rules));
    let shown: Vec<(&str, &Replacement, Vec<&str>)> = report
        .changes
        .iter()
        .map(|change| {
            let rules = change
                .rules
                .iter()
                .filter_map(|step| step.cause.rule())
                .map(|rule| rules.name(rule))
                .collect();
            (change.from, &change.to, rules)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("core.abs", &Replacement::Op("core.abs"), vec!["abs-neg"]),
            ("core.add", &Replacement::Constant, vec![]),
            ("core.sub", &Replacement::Value(0), vec!["sub-zero"]),
        ]
    );
    let chosen = rules.names().position(|name| name == "abs-neg").unwrap();
    assert_eq!(report.rules[chosen].chosen, 1);
    assert!(report.cost_after < report.cost_before);
}

#[test]
fn limits_end_the_search_with_a_remark() {
    let rules = shipped();
    let limits = Limits {
        growth: 1,
        ..Limits::default()
    };
    let cx = Context {
        limits,
        ..context(&rules)
    };
    let mut m = Module::new();
    let mut x = m.f32(&[8, 8]);
    for _ in 0..40 {
        x = m.transpose(x, &[1, 0]);
        x = m.op("exp", &[x]);
    }
    let mut g = m.outputs(&[x]);
    let report = folded(&mut g, &cx);
    assert!(
        report
            .kept
            .iter()
            .any(|kept| matches!(kept.reason, KeptReason::Nodes(_)))
    );
    let remark = report.remarks.iter().next().unwrap();
    assert!(
        remark.message.contains("not searched to the end"),
        "{}",
        remark.message
    );
}

#[test]
fn an_unsound_rule_that_makes_constants_equal_gives_the_region_up() {
    let text = "rule lie class exact where is_splat(?c, 1) core.add(?x, ?c) => core.mul(?x, ?c)";
    let rules = RuleSet::load(&registry(), &[("lie", text)]).unwrap();
    let mut m = Module::new();
    let x = m.constant(&Tensor::new(vec![], Buffer::F32(vec![5.0].into())));
    let one = m.scalar(1.0);
    let y = m.op("add", &[x, one]);
    let mut g = m.outputs(&[y]);
    let before = dump(&g);
    let cx = context(&rules);
    let report = mind_eqsat::fold(&mut g, &cx);
    let kept = report.kept.iter().find_map(|kept| match &kept.reason {
        KeptReason::Contradiction { rules, values } => Some((rules.clone(), values.as_str())),
        _ => None,
    });
    let (blamed, values) = kept.expect("a contradiction");
    let blamed: Vec<&str> = blamed.iter().map(|&rule| rules.name(rule)).collect();
    assert_eq!(blamed, ["lie"]);
    assert_eq!(values, "the constants 5.0 and 6.0 of f32[]");
    let warning = report.remarks.iter().next().unwrap();
    assert_eq!(warning.severity, mind_diag::Severity::Warning);
    assert!(
        warning.message.contains("`lie` made"),
        "{}",
        warning.message
    );
    assert_eq!(before, dump(&g));
}
