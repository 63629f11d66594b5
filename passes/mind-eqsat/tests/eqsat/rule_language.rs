//! The rule language: operand lists, extents and a program's own functions.

use mind_eqsat::fold;
use mind_rules::{Argument, AttrValue, ExprKind, Param, RuleSet, Vocabulary};

use crate::support::{assert_same, check, context, dump, ops, registry};
use crate::text::module;

fn rules(body: &str) -> RuleSet {
    let text = format!("rule r\nclass exact\n{body}\n");
    RuleSet::load(&registry(), &[("my.rules", &text)]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns how often the rule was applied to the module, and the resulting ops, which compute the same bits.
fn folded(rules: &RuleSet, text: &str) -> (usize, Vec<&'static str>) {
    let (before, mut g) = (module(text), module(text));
    let report = fold(&mut g, &context(rules));
    check(&mut g);
    assert_same(&before, &g);
    (report.rules[0].applied, ops(&g))
}

#[test]
fn a_list_in_the_middle_of_another_is_spliced() {
    let flatten = "core.concat(?xs.., core.concat(?ys..) {axis=$a}, ?zs..) {axis=$a} => \
                   core.concat(?xs.., ?ys.., ?zs..) {axis=$a}";
    let rules = rules(flatten);
    let leaves = "a:f32[2, 3], concat(b:f32[1, 3], c:f32[4, 3], axis=0), d:f32[1, 3]";
    assert_eq!(
        folded(&rules, &format!("concat({leaves}, axis=0)")).1,
        ["concat"]
    );
    let first = "concat(concat(a:f32[2, 3], b:f32[2, 3], axis=0), c:f32[1, 3], axis=0)";
    assert_eq!(folded(&rules, first).1, ["concat"]);
    let other = "concat(concat(a:f32[2, 3], b:f32[2, 2], axis=1), c:f32[1, 5], axis=0)";
    assert_eq!(folded(&rules, other), (0, vec!["concat", "concat"]));
}

#[test]
fn a_term_is_matched_for_every_operand() {
    let out = "core.concat(core.transpose(?xs..) {permutation=$p} ..) {axis=$a} => \
               core.transpose(core.concat(?xs..) {axis=at($p, $a)}) {permutation=$p}";
    let rules = rules(out);
    let transposed = |p: &str| {
        format!(
            "concat(transpose(a:f32[8, 3], permutation=[1, 0]), transpose(b:f32[4, 3], permutation={p}), \
             transpose(c:f32[5, 3], permutation=[1, 0]), axis=1)"
        )
    };
    assert_eq!(folded(&rules, &transposed("[1, 0]")).0, 1);
    let (acted, ops) = folded(
        &rules,
        "concat(transpose(a:f32[3, 3], permutation=[1, 0]), transpose(b:f32[3, 3], permutation=[0, 1]), axis=1)",
    );
    assert_eq!(acted, 0, "{ops:?}");
    assert_eq!(
        folded(
            &rules,
            "concat(transpose(a:f32[3, 3], permutation=[1, 0]), b:f32[3, 3], axis=1)"
        )
        .0,
        0
    );
}

#[test]
fn what_is_no_list_is_the_same_for_every_operand() {
    let rules = rules(
        "where count(?bs..) >= 2 and rank(?bs..) == 2 and rank(?a) == 2 and axis($x, ?a) == 1\n\
         core.concat(core.matmul(?a, ?bs..) ..) {axis=$x} => core.matmul(?a, core.concat(?bs..) {axis=$x})",
    );
    let products = |second: &str| {
        format!(
            "concat(matmul(a:f32[4, 5], b:f32[5, 6]), matmul({second}, c:f32[5, 2]), \
             matmul(a, d:f32[5, 3]), axis=1)"
        )
    };
    assert_eq!(
        folded(&rules, &products("a")),
        (1, vec!["concat", "matmul"])
    );
    assert_eq!(folded(&rules, &products("e:f32[4, 5]")).0, 0);
}

#[test]
fn a_list_named_twice_is_one_list() {
    let rules = rules(
        "core.add(core.concat(?xs..) {axis=$a}, core.concat(?xs..) {axis=$a}) => \
         core.concat(core.add(?xs.., ?xs..) ..) {axis=$a}",
    );
    let sum = |rhs: &str| format!("add(concat(a:f32[2], b:f32[3], axis=0), concat({rhs}, axis=0))");
    assert!(folded(&rules, &sum("a, b")).0 > 0);
    assert_eq!(folded(&rules, &sum("a, c:f32[3]")).0, 0);
}

#[test]
fn a_list_can_be_mapped() {
    let rules = rules(
        "where same_shape(?xs.., ?ys..)\n\
         core.concat(core.add(?xs.., ?ys..) ..) {axis=$a} => \
         core.add(core.concat(?xs..) {axis=$a}, core.concat(core.abs(core.neg(?ys..)) ..) {axis=$a})",
    );
    let text = "concat(add(a:f32[2], b:f32[2]), add(c:f32[3], d:f32[3]), axis=0)";
    let mut g = module(text);
    let report = fold(&mut g, &context(&rules));
    assert!(report.rules[0].applied > 0, "{}", dump(&g));
    let broadcast = "concat(add(a:f32[2], b:f32[2]), add(c:f32[3], d:f32[]), axis=0)";
    assert_eq!(folded(&rules, broadcast).0, 0);
}

#[test]
fn a_fixed_number_of_operands_matches_that_number_alone() {
    let rules = rules("core.concat(?x, ?y) {axis=$a} => core.concat(?x, ?y) {axis=$a}");
    let matched = |text: &str| {
        let mut g = module(text);
        fold(&mut g, &context(&rules)).rules[0].matched
    };
    assert_eq!(matched("concat(a:f32[2], b:f32[2], axis=0)"), 1);
    assert_eq!(matched("concat(a:f32[2], b:f32[2], c:f32[2], axis=0)"), 0);
}

#[test]
fn hundreds_of_operands_are_left_alone_or_taken_as_one_list() {
    let each = rules(
        "core.concat(core.neg(?xs..) ..) {axis=$a} => core.neg(core.concat(?xs..) {axis=$a})",
    );
    let operand = |index: usize| format!("neg(x{index}:f32[1])");
    let concat = |count: usize| {
        let operands: Vec<String> = (0..count).map(operand).collect();
        format!("concat({}, axis=0)", operands.join(", "))
    };
    assert_eq!(folded(&each, &concat(20)).1, ["concat", "neg"]);
    assert_eq!(folded(&each, &concat(300)).0, 0);
}

#[test]
fn extents_stand_in_shapes_on_the_right() {
    let rules = rules(
        "core.expand_dims(?x: 't[m, ..s]) {axes=[0]} => core.reshape(?x) {new_shape=[1, m, ..s]}",
    );
    let (acted, _) = folded(&rules, "expand_dims(x:f32[3, 4, 5], axes=[0])");
    assert_eq!(acted, 1);
    assert_eq!(folded(&rules, "expand_dims(x:f32[3, 4, 5], axes=[1])").0, 0);
}

#[test]
fn one_extent_name_is_one_extent() {
    let rules = rules("where k >= 2 core.matmul(?a: 't[m, k], ?b: 't[k, m]) => core.dot(?a, ?b)");
    assert_eq!(folded(&rules, "matmul(a:f32[3, 4], b:f32[4, 3])").0, 1);
    assert_eq!(folded(&rules, "matmul(a:f32[3, 4], b:f32[4, 5])").0, 0);
    assert_eq!(folded(&rules, "matmul(a:f32[3, 1], b:f32[1, 3])").0, 0);
}

#[test]
fn constants_on_the_right_are_computed() {
    let rules = rules(
        "where is_int(?x) and splat(?c) > 0 and splat(?c) < 100\n\
         core.mul(?x: 't[m, ..s], ?c) => core.mul(?x, like(?x, mul(m, 2)))",
    );
    let product = |factor: &str| {
        let mut g = module(&format!("mul(x:i32[3, 4], {factor}:i32[3, 4])"));
        fold(&mut g, &context(&rules)).rules[0].applied
    };
    assert_eq!(product("5"), 1);
    assert_eq!(product("500"), 0);
    assert_eq!(product("-5"), 0);
    let text = "rule r class exact core.neg(?x) => core.add(?x, like(?x, shape(?x)))";
    let errors = RuleSet::load(&registry(), &[("own", text)]).unwrap_err();
    let message = "own:1:58: a constant holds a number, found a shape\n";
    assert_eq!(errors.to_string(), message);
}

#[test]
fn two_shapes_broadcast() {
    let rules = rules(
        "where shape(?s) == broadcast(?x, ?y)\n\
         ?s @ core.add(?x, core.neg(?y)) => core.sub(?x, ?y)",
    );
    assert_eq!(folded(&rules, "add(x:f32[3, 1], neg(y:f32[4]))").1, ["sub"]);
}

#[test]
fn a_program_adds_words() {
    let vocabulary = Vocabulary::new()
        .predicate("is_even", &[Param::Int], |a| Some(a[0].int()? % 2 == 0))
        .function("half", &[Param::Int], ExprKind::Int, |a| {
            Some(Argument::Attr(AttrValue::Int(a[0].int()? / 2)))
        });
    let text = "rule r\nclass exact\nwhere is_even(dim(?x, 0)) and half(dim(?x, 0)) >= 2\n\
                core.abs(core.neg(?x)) => core.abs(?x)";
    let rules = RuleSet::load_with(&registry(), &[("own", text)], &vocabulary).unwrap();
    assert_eq!(folded(&rules, "abs(neg(x:f32[4]))").1, ["abs"]);
    assert_eq!(folded(&rules, "abs(neg(x:f32[5]))").0, 0);
    assert_eq!(folded(&rules, "abs(neg(x:f32[2]))").0, 0);
    let errors = RuleSet::load(&registry(), &[("own", text)]).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "own:3:7: unknown predicate `is_even`\nown:3:31: unknown function `half`\n"
    );
    let typo = text.replace("is_even", "is_evne");
    let errors = RuleSet::load_with(&registry(), &[("own", &typo)], &vocabulary).unwrap_err();
    let help = errors.0[0].diagnostics.iter().next().unwrap().help.clone();
    assert_eq!(help.unwrap(), "did you mean `is_even`?");
}

#[test]
fn types_bind_dtypes_and_extents() {
    let text = "rule r\nclass exact\nwhere is_float('t) and m == n and n >= 2\n\
                core.abs(core.neg(?x: 't[..s, m, n])) => core.abs(?x)\n";
    let rules = RuleSet::load(&registry(), &[("a", text)]).unwrap();
    let folded = |text: &str| {
        let mut g = module(text);
        fold(&mut g, &context(&rules));
        check(&mut g);
        ops(&g)
    };
    assert_eq!(folded("abs(neg(x:f32[5, 3, 3]))"), ["abs"]);
    assert_eq!(folded("abs(neg(x:f32[3, 4]))"), ["neg", "abs"]);
    assert_eq!(folded("abs(neg(x:i32[3, 3]))"), ["neg", "abs"]);
    assert_eq!(folded("abs(neg(x:f32[1, 1]))"), ["neg", "abs"]);
    assert_eq!(folded("abs(neg(x:f32[4]))"), ["neg", "abs"]);
}

#[test]
fn a_rule_whose_sides_differ_in_type_does_not_act() {
    let text = "rule r class exact core.add(?x, ?y) => ?x";
    let rules = RuleSet::load(&registry(), &[("a", text)]).unwrap();
    let mut g = module("add(x:f32[1], y:f32[4])");
    let report = fold(&mut g, &context(&rules));
    assert!(report.rules[0].refused > 0, "`x` is smaller than the sum");
    assert_eq!(report.rules[0].applied, 1, "`y` has the sum's type");
}
