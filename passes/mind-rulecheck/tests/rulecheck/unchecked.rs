//! Rules that could not be tested do not pass.

use mind_ir::types::DType;
use mind_rulecheck::{Config, Verdict, check, class_text};
use mind_rules::RuleSet;
use mind_snapshot::snapshot;

use crate::support::{checked, checks, registry};

fn reason(body: &str) -> String {
    match checked(body).verdict {
        Verdict::Unchecked(reason) => reason,
        verdict => panic!("{body}: {verdict:?}"),
    }
}

#[test]
fn rules_that_no_module_tests_say_why() {
    let bodies = [
        // The condition never holds.
        "class exact where dim(?x, 0) == 1000003 core.neg(core.neg(?x)) => ?x",
        "class exact where rank(?x) == 1 and rank(?x) == 2 core.neg(core.neg(?x)) => ?x",
        "class exact where is_int(?x) and is_float(?x) core.neg(core.neg(?x)) => ?x",
        // An alternative that never holds, and a dtype that never occurs.
        "class exact where rank(?x) <= 4 or dim(?x, 0) == 1000003 core.neg(core.neg(?x)) => ?x",
        "class exact where is_int(?x) or dim(?x, 0) == 1000003 core.neg(core.neg(?x)) => ?x",
        // The right side has another type.
        "class exact where rank(?x) == 2 core.neg(?x) => core.sum(?x)",
        // No module has the left side.
        "class exact core.add(?y @ core.neg(?x), ?y @ core.abs(?x)) => ?x",
        "class exact ?x @ core.neg(?x) => ?x",
        // No module has the attributes.
        "class exact core.neg(core.expand_dims(?x) {axes=[-1]}) => core.expand_dims(core.neg(?x)) {axes=[-1]}",
        // All results are NaN.
        "class exact core.log(core.sub(core.neg(core.abs(?x)), core.exp(core.abs(?y)))) \
         => core.log(core.sub(core.neg(core.exp(core.abs(?y))), core.abs(?x)))",
    ];
    let shown = bodies.map(|body| format!("{body}\n    {}\n", reason(body)));
    snapshot!(shown.join("\n"));
}

#[test]
fn too_few_cases() {
    let text = "rule r\nclass exact\ncore.neg(core.neg(?x)) => ?x\n";
    let rules = RuleSet::load(&registry(), &[("a", text)]).expect("a rule file");
    let config = Config {
        draws: 1,
        ..Config::default()
    };
    let checks = check(&rules, &config);
    assert!(matches!(&checks[0].verdict, Verdict::Unchecked(why) if why.starts_with("only ")));
}

#[test]
fn shapes_on_which_nothing_wrong_can_be_seen() {
    let reason = reason(
        "class exact where numel(?x) == 1
         core.transpose(?x) {permutation=$p} => core.transpose(?x) {permutation=inverse(perm($p, ?x))}",
    );
    assert!(reason.starts_with("the check is too weak"), "{reason}");
}

#[test]
fn a_class_weaker_than_what_holds_is_noted() {
    let check = checked("class reassoc core.neg(core.neg(?x)) => ?x");
    assert!(check.passed());
    assert_eq!(check.holds.map(class_text).as_deref(), Some("exact"));
    assert_eq!(
        check.notes,
        ["declared `reassoc`, and `exact` in all that was tried"]
    );
}

#[test]
fn a_needless_condition_is_noted() {
    let check = checked("class exact where rank(?x) == 2 core.neg(core.neg(?x)) => ?x");
    assert!(check.passed(), "{:?}", check.verdict);
    assert_eq!(
        check.notes,
        ["`rank(..) == 2` is not needed in anything that was tried"]
    );
    let needed = checked("class exact where is_splat(?z, -0.0) core.add(?x, ?z) => ?x");
    assert!(
        needed.passed() && needed.notes.is_empty(),
        "{:?}",
        needed.notes
    );
}

#[test]
fn the_result_depends_neither_on_threads_nor_on_other_rules() {
    let text = "rule a\nclass exact\ncore.neg(core.neg(?x)) => ?x\n\
                rule b\nclass exact\nwhere is_float(?x)\ncore.sub(?x, ?x) => like(?x, 0)\n";
    let rules = RuleSet::load(&registry(), &[("a", text)]).expect("a rule file");
    let one = |threads| {
        let config = Config {
            threads,
            ..Config::default()
        };
        format!("{:?}", check(&rules, &config))
    };
    assert_eq!(one(1), one(4));
    let alone =
        checks("rule b\nclass exact\nwhere is_float(?x)\ncore.sub(?x, ?x) => like(?x, 0)\n");
    assert!(one(1).contains(&format!("{:?}", alone[0])));
}

#[test]
fn dtypes_that_the_guard_excludes_need_no_check() {
    let bodies = [
        "class exact where is_short(?x) core.neg(core.neg(?x)) => ?x",
        "class exact where is_splat(?c, 300) and is_int(?x)
         core.add(core.sub(?x, ?c), ?c) => ?x",
        "class exact where is_float($d) and is_short(?x) core.cast(core.neg(core.neg(?x))) {dtype=$d} => core.cast(?x) {dtype=$d}",
        "class exact where not is_short(?x) and is_int(?x) and is_signed(?x) core.neg(core.neg(?x)) => ?x",
    ];
    for body in bodies {
        let check = checked(body);
        assert!(check.passed(), "{body}: {:?}", check.verdict);
        assert!(check.excluded.contains(&DType::F32), "{body}");
        let both = check.excluded.iter().find(|own| check.dtypes.contains(own));
        assert_eq!(both, None, "{body}");
    }
    let check = checked(bodies[1]);
    assert!(check.excluded.contains(&DType::I8) && check.dtypes.contains(&DType::I16));
}
