//! Unsound rules are rejected, each for its own reason.

use mind_ir::types::DType;
use mind_rulecheck::{Counterexample, Observed, RuleCheck, Verdict, class_text};
use mind_snapshot::snapshot;

use crate::support::{checked, checks};

const UNSOUND: &str = include_str!("unsound.rules");

fn rejection(check: &RuleCheck) -> &Counterexample {
    match &check.verdict {
        Verdict::Rejected(shown) => shown,
        verdict => panic!("{} is not rejected: {verdict:?}", check.name),
    }
}

#[test]
fn every_unsound_rule_is_rejected_and_the_strictest_class_that_it_keeps_is_found() {
    let checks = checks(UNSOUND);
    let found = checks.iter().map(|check| {
        rejection(check);
        let holds = check.holds.map_or("none".to_owned(), class_text);
        format!("{}: {holds}\n", check.name)
    });
    snapshot!(found.collect::<String>());
}

#[test]
fn counterexamples_are_small() {
    let wanted = ["add-zero", "transpose-inverse", "concat-order"];
    let rules = UNSOUND.split("\n\n").filter(|rule| {
        let head = rule.lines().next().unwrap_or_default();
        wanted.iter().any(|name| head == format!("rule {name}"))
    });
    let checks = checks(&rules.collect::<Vec<_>>().join("\n"));
    let shown = |name: &str| {
        let check = checks.iter().find(|check| check.name == name);
        rejection(check.expect("a rule of that name"))
    };
    let zero = shown("add-zero");
    assert_eq!(zero.dtype, DType::F32);
    assert_eq!(zero.index, [] as [usize; 0]);
    assert_eq!(zero.left.to_string(), "0.0 (0x0)");
    assert_eq!(zero.right.to_string(), "-0.0 (0x80000000)");
    // Two constants, the sum and the terminator.
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
    let floats = checked(
        "class exact where not is_float(?x)
         core.relu(core.add(?x, ?x)) => core.add(core.relu(?x), core.relu(?x))",
    );
    assert!(!rejection(&floats).dtype.is_float());
    let integers =
        checked("class exact where is_int(?x) and is_splat(?z, 0) core.mul(?x, ?z) => like(?x, 0)");
    assert!(integers.passed(), "{:?}", integers.verdict);
}

#[test]
fn a_right_side_that_fails_is_a_counterexample() {
    let check = checked(
        "class exact where is_int(?x)
         core.relu(?x) => core.add(core.relu(?x), core.sub(core.div(?x, ?x), core.div(?x, ?x)))",
    );
    let shown = rejection(&check);
    assert!(
        matches!(&shown.right, Observed::Error(why) if why.contains("division")),
        "{shown:?}"
    );
}

#[test]
fn a_fusion_that_only_gathers_holds() {
    let text = "fusion f\nclass exact\nkind elementwise\ncore.relu(core.add(?x, ?y))\n";
    let checks = checks(text);
    assert!(checks[0].passed(), "{:?}", checks[0].verdict);
}
