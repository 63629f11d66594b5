//! Unsound rules are rejected, each for its reason.

use mind_ir::types::DType;
use mind_rulecheck::{Counterexample, Found, RuleCheck, Verdict, class_text};

use crate::support::checks;

/// Name, what stands behind the name, and the strictest class that it keeps.
const UNSOUND: &[(&str, &str, &str)] = &[
    (
        "mul-zero",
        "class exact where is_splat(?z, 0) core.mul(?x, ?z) => like(?x, 0)",
        "nsz, nnan",
    ),
    (
        "add-zero",
        "class exact where is_float(?x) and is_splat(?z, 0) core.add(?x, ?z) => ?x",
        "nsz",
    ),
    (
        "div-self",
        "class exact where is_float(?x) core.div(?x, ?x) => like(?x, 1)",
        "nnan",
    ),
    (
        "sub-self",
        "class exact where is_float(?x) core.sub(?x, ?x) => like(?x, 0)",
        "nnan",
    ),
    (
        "sub-self-nsz",
        "class nsz where is_float(?x) core.sub(?x, ?x) => like(?x, 0)",
        "nnan",
    ),
    (
        "add-reassociate",
        "class exact where is_float(?a)
         core.add(core.add(?a, ?b), ?c) => core.add(?a, core.add(?b, ?c))",
        "reassoc",
    ),
    (
        "transpose-order",
        "class exact
         core.transpose(core.transpose(?x) {permutation=$p}) {permutation=$q}
         => core.transpose(?x) {permutation=compose(perm($q, ?x), perm($p, ?x))}",
        "none",
    ),
    (
        "transpose-inverse",
        "class exact where rank(?x) >= 3
         core.transpose(?x) {permutation=$p} => core.transpose(?x) {permutation=inverse(perm($p, ?x))}",
        "none",
    ),
    (
        "sum-of-swapped-halves",
        "class exact where is_float(?x)
         core.sum(core.concat(?x, ?y) {axis=0}) {axes=[0]}
         => core.sum(core.concat(?y, ?x) {axis=0}) {axes=[0]}",
        "reassoc",
    ),
    (
        "sum-of-transpose",
        "class exact where is_float(?x) and rank(?x) == 2
         core.sum(core.transpose(?x) {permutation=[1, 0]}) => core.sum(?x)",
        "reassoc",
    ),
    (
        "relu-abs",
        "class exact where is_float(?x) core.relu(core.abs(?x)) => core.abs(?x)",
        "nnan",
    ),
    (
        "div-div",
        "class exact where is_splat(?c, 2) and is_splat(?d, 4) and is_float(?x)
         core.div(core.div(?x, ?c), ?d) => core.div(?x, like(?c, 8))",
        "reassoc",
    ),
    (
        "maximum-zero",
        "class exact where is_float(?x) and is_splat(?z, 0)
         core.maximum(?x, ?z) => core.relu(?x)",
        "nnan",
    ),
    (
        "matmul-of-one",
        "class exact where is_float(?a) and dim(?a, 1) == 1 and rank(?a) == 2 and rank(?b) == 2
         core.matmul(?a, ?b) => core.mul(?a, ?b)",
        "nsz",
    ),
    (
        "relu-of-doubled",
        "class exact where is_int(?x)
         core.relu(core.add(?x, ?x)) => core.add(core.relu(?x), core.relu(?x))",
        "none",
    ),
    (
        "div-by-constant",
        "class exact where is_float(?x) and is_splat(?c, 3)
         core.div(?x, ?c) => core.mul(?x, core.div(like(?c, 1), ?c))",
        "reassoc",
    ),
    (
        "exp-log",
        "class exact core.exp(core.log(?x)) => ?x",
        "reassoc",
    ),
    (
        "abs-of-product",
        "class exact where is_int(?x) core.abs(core.mul(?x, ?y)) => core.mul(core.abs(?x), core.abs(?y))",
        "none",
    ),
    (
        "matmul-distribute",
        "class exact where is_float(?a)
         core.matmul(?a, core.add(?b, ?c)) => core.add(core.matmul(?a, ?b), core.matmul(?a, ?c))",
        "reassoc",
    ),
    (
        "matmul-split",
        "class exact where is_float(?a) and rank(?a) == 2 and rank(?b) == 2
         core.matmul(core.concat(?a, ?c) {axis=1}, core.concat(?b, ?d) {axis=0})
         => core.add(core.matmul(?a, ?b), core.matmul(?c, ?d))",
        "reassoc",
    ),
    (
        "transpose-of-matmul",
        "class exact where rank(?a) == 2 and rank(?b) == 2
         core.transpose(core.matmul(?a, ?b)) {permutation=[1, 0]}
         => core.matmul(core.transpose(?a) {permutation=[1, 0]}, core.transpose(?b) {permutation=[1, 0]})",
        "none",
    ),
    (
        "concat-order",
        "class exact where same_shape(?x, ?y)
         core.concat(?x, ?y) {axis=$a} => core.concat(?y, ?x) {axis=$a}",
        "none",
    ),
    (
        "split-part",
        "class exact where same_shape(?x, ?y)
         core.split(core.concat(?x, ?y) {axis=$a}) {axis=$a, count=2, part=1} => ?x",
        "none",
    ),
    (
        "slice-of-concat",
        "class exact where at($s, axis($a, ?x)) >= dim(?x, axis($a, ?x))
         core.slice(core.concat(?x, ?y) {axis=$a}) {starts=$s, ends=$e, steps=$t}
         => core.slice(?x) {starts=shift($s, axis($a, ?x), dim(?x, axis($a, ?x))),
                            ends=shift($e, axis($a, ?x), dim(?x, axis($a, ?x))), steps=$t}",
        "none",
    ),
    (
        "max-of-sum",
        "class exact where is_int(?x) and rank(?c) == 0
         core.max(core.add(?x, ?c)) {axes=$a, keepdims=$k} => core.add(core.max(?x) {axes=$a, keepdims=$k}, ?c)",
        "none",
    ),
    (
        "mean-for-sum",
        "class reassoc where is_float(?x) core.sum(?x) {axes=$a, keepdims=$k} => core.mean(?x) {axes=$a, keepdims=$k}",
        "none",
    ),
    (
        "forgets-an-operand",
        "class reassoc where is_float(?a) core.add(core.add(?a, ?b), ?c) => core.add(?a, ?b)",
        "none",
    ),
    (
        "too-precise",
        "class approx(1e-12) core.exp(core.neg(?x)) => core.div(like(?x, 1), core.exp(?x))",
        "reassoc",
    ),
];

fn rules(rows: &[(&str, &str, &str)]) -> Vec<RuleCheck> {
    let text: Vec<String> = rows
        .iter()
        .map(|(name, body, _)| format!("rule {name}\n{body}\n"))
        .collect();
    checks(&text.concat())
}

fn rejection(check: &RuleCheck) -> &Counterexample {
    match &check.verdict {
        Verdict::Rejected(shown) => shown,
        verdict => panic!("{} is not rejected: {verdict:?}", check.name),
    }
}

#[test]
fn every_unsound_rule_is_rejected_and_its_class_found() {
    let checks = rules(UNSOUND);
    let found: Vec<(&str, String)> = checks
        .iter()
        .map(|check| {
            rejection(check);
            let holds = check.holds.map_or("none".to_owned(), class_text);
            (check.name.as_str(), holds)
        })
        .collect();
    let expected: Vec<(&str, String)> = UNSOUND
        .iter()
        .map(|(name, _, holds)| (*name, (*holds).to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn counterexamples_are_small() {
    let wanted = ["add-zero", "transpose-inverse", "concat-order"];
    let rows = UNSOUND.iter().filter(|(name, ..)| wanted.contains(name));
    let checks = rules(&rows.copied().collect::<Vec<_>>());
    let shown = |name: &str| {
        let check = checks.iter().find(|check| check.name == name);
        rejection(check.expect("a rule of that name"))
    };
    let zero = shown("add-zero");
    assert_eq!(zero.dtype, DType::F32);
    assert_eq!(zero.index, [] as [usize; 0]);
    assert_eq!(zero.left.to_string(), "0.0 (0x0)");
    assert_eq!(zero.right.to_string(), "-0.0 (0x80000000)");
    // A constant, the other constant, the sum.
    let ops = zero.module.ops(zero.module.body());
    assert_eq!(ops.count(), 4);
    let elements = |name: &str| -> i64 {
        let g = &shown(name).module;
        let values = g.ops(g.body()).flat_map(|op| g.results(op));
        values
            .map(|value| g.ty(value).count().expect("known extents"))
            .sum()
    };
    assert!(
        elements("transpose-inverse") <= 40,
        "{}",
        elements("transpose-inverse")
    );
    assert!(
        elements("concat-order") <= 10,
        "{}",
        elements("concat-order")
    );
}

#[test]
fn what_is_wrong_in_one_dtype_only_is_found_there() {
    let rows = [(
        "square-of-sum",
        "class exact where not is_float(?x) core.relu(core.add(?x, ?x)) => core.add(core.relu(?x), core.relu(?x))",
        "",
    )];
    let checks = rules(&rows);
    assert!(!rejection(&checks[0]).dtype.is_float());
    let integers = rules(&[(
        "mul-zero",
        "class exact where is_int(?x) and is_splat(?z, 0) core.mul(?x, ?z) => like(?x, 0)",
        "",
    )]);
    assert!(integers[0].passed(), "{:?}", integers[0].verdict);
}

#[test]
fn a_right_side_that_fails_is_a_counterexample() {
    let rows = [(
        "adds-a-division",
        "class exact where is_int(?x) core.relu(?x) => core.add(core.relu(?x), core.sub(core.div(?x, ?x), core.div(?x, ?x)))",
        "",
    )];
    let checks = rules(&rows);
    let shown = rejection(&checks[0]);
    assert!(
        matches!(&shown.right, Found::Error(why) if why.contains("division")),
        "{shown:?}"
    );
}

#[test]
fn a_fusion_that_only_gathers_holds() {
    let text = "fusion f\nclass exact\nkind elementwise\ncore.relu(core.add(?x, ?y))\n";
    let checks = checks(text);
    assert!(checks[0].passed(), "{:?}", checks[0].verdict);
}
