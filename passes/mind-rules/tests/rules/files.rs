//! Errors in rule files: their locations and messages.

use mind_diag::render_text;
use mind_rules::{
    Direction, Engine, FastMath, Phase, RuleSet, built_in_functions, built_in_predicates,
};
use mind_snapshot::snapshot;

use crate::registry;

/// Returns the errors of the rule file `text` as users see them, and their number.
fn rendered(text: &str) -> (String, usize) {
    let Err(errors) = RuleSet::load(&registry(), &[("my.rules", text)]) else {
        panic!("{text}\nhas no error")
    };
    let [source] = errors.0.as_slice() else {
        panic!("one source")
    };
    let shown = render_text(&source.diagnostics, &source.file, false);
    (shown, source.diagnostics.iter().len())
}

/// Returns the errors of each file.
fn files(texts: &[&str]) -> String {
    let shown: Vec<String> = texts.iter().map(|text| rendered(text).0).collect();
    shown.join("\n")
}

/// Returns the single error of each rule, given by its lines from the third on.
fn rules(bodies: &[&str]) -> String {
    let of = |body: &&str| {
        let (shown, count) = rendered(&format!("rule r\nclass exact\n{body}\n"));
        assert_eq!(count, 1, "{body}\n{shown}");
        shown
    };
    bodies.iter().map(of).collect::<Vec<_>>().join("\n")
}

#[test]
fn ops_and_arity() {
    snapshot!(rules(&[
        "core.matmull(?a, ?b) => ?a",
        "xyz(?a) => ?a",
        "core.add(?a) => ?a",
        "core.neg(core.input()) => core.neg(?x)",
        "core.concat(..xs) {axis=$a} => ?x",
    ]));
}

#[test]
fn results_of_ops_of_several() {
    snapshot!(rules(&[
        "engine greedy\ncore.sort(?x) => ?x",
        "engine greedy\ncore.sort.2(?x) => ?x",
        "engine greedy\ncore.neg.0(?x) => ?x",
        "engine greedy\ncore.if.0(?x) => ?x",
        "core.sort.0(?x) => ?x",
        "core.neg(core.sort.0(?x)) => ?x",
        "engine greedy\ncore.neg(?x) => core.sort.0(?x)",
        "engine greedy\nwhere len(integers(?x)) == 1\ncore.neg(?x) => ?x",
    ]));
}

#[test]
fn traits() {
    snapshot!(rules(&[
        "for op in elementwize/1\nop(?x) => ?x",
        "for op in core.neg/1\nop(?x) => ?x",
        "for op in elementwise/9\nop(?x) => ?x",
        "for op in elementwise/99999999999999999999\nop(?x) => ?x",
        "for op in core.add, not commutative\nop(?x, ?y) => ?x",
        "for op in not partial\nop(?x, ?y) => ?x",
        "for op in neg\nop(?x) => ?x",
        "for op in core.input\nop(?x) => ?x",
        "for op in elementwise\nop(?x) => ?x",
        "for op in elementwise/1/\nop(?x) => ?x",
    ]));
}

#[test]
fn names() {
    snapshot!(rules(&[
        "core.neg(?x) => core.neg(?y)",
        "core.neg(?input) => core.neg(?other)",
        "core.transpose(?x) {permutation=$p} => core.transpose(?x) {permutation=$q}",
        "where is_float('t) core.neg(?x) => ?x",
        "?x => ?x",
    ]));
}

#[test]
fn attributes() {
    snapshot!(rules(&[
        "core.transpose(?x) {perm=$p} => ?x",
        "core.transpose(?x) {permutatoin=$p} => ?x",
        "core.reshape(?x) => ?x",
        "core.sum(?x) {axes=true} => ?x",
        "core.sum(?x) {axes=$a, axes=$b} => ?x",
        "core.neg(core.transpose(?x) {permutation=$p}) => core.transpose(?x) {permutation=rank(?x)}",
        "core.neg(core.transpose(?x) {permutation=inverse([1, 0])}) => ?x",
    ]));
}

#[test]
fn conditions() {
    snapshot!(rules(&[
        "where is_flaot(?x) core.neg(?x) => ?x",
        "where is_float(?x, ?x) core.neg(?x) => ?x",
        "where rank(3) == 2 core.neg(?x) => ?x",
        "where runk(?x) == 2 core.neg(?x) => ?x",
        "where shape(?x) < shape(?x) core.neg(?x) => ?x",
        "where rank(?x) core.neg(?x) => ?x",
    ]));
}

#[test]
fn rules_as_a_whole() {
    snapshot!(files(&[
        "rule r\ncore.neg(?x) => ?x",
        "rule r\nclass exakt\ncore.neg(?x) => ?x",
        "rule r\nclass exact\ncore.abs(?x) => ?x\nrule r\nclass exact\ncore.neg(?x) => ?x",
        "fusion f\nclass exact\ncore.neg(?x)",
        "rule r\nclass exact\nengine greedy\ncore.neg(?x) <=> core.abs(?x)",
        "rule r\nclass exact\nphase late\ncore.neg(?x) => core.abs(?x)",
    ]));
}

#[test]
fn lists_of_operands() {
    snapshot!(rules(&[
        "core.add(?xs..) => ?x",
        "core.neg(?xs..) => core.neg(?x)",
        "core.concat(?xs..) {axis=$a} => core.neg(?xs)",
        "core.concat(?xs..) {axis=$a} => core.neg(?xs..)",
        "core.concat(?x, ?xs..) {axis=$a} => core.concat(?x..) {axis=$a}",
        "core.concat(?xs.., ?xs) {axis=$a} => core.concat(?xs..) {axis=$a}",
        "core.concat(?xs.., ?ys.., ?zs..) {axis=$a} => core.concat(?xs..) {axis=$a}",
        "core.concat(core.concat(?xs..) {axis=$a} ..) {axis=$a} => core.concat(?xs..) {axis=$a}",
        "core.concat(?xs..) {axis=$a} => core.concat(core.neg(?x) ..) {axis=$a}",
        "core.concat(?x, ?xs..) {axis=$a} => core.concat(core.neg(?x) ..) {axis=$a}",
        "where count(?x) == 2 core.concat(?x, ?xs..) {axis=$a} => ?x",
        "core.concat(?xs..) {axis=$a} => core.concat(?xs..) {axis=rank(?xs..)}",
    ]));
}

#[test]
fn all_that_is_wrong_with_one_rule_is_reported() {
    let text = "rule r\nphase late\nwhere is_flat(?x) and rang(?y) == 2\n\
                core.nag(core.nig(?x)) => core.adds(?z, core.neg(?x, ?x))\n";
    snapshot!(files(&[text]));
}

#[test]
fn syntax() {
    let nested = "core.neg(".repeat(99) + "?x" + &")".repeat(99);
    snapshot!(files(&[
        "rule r\nclass exact\ncore.neg(?x) =\n",
        "rule r\nclass exact\ncore.neg(?x =>\n",
        "rule r\nclass exact\ncore.neg(?x) => ?x ?y\n",
        "hello",
        "rule",
        "%",
        "rule r class exact core.neg(?x) => ?x source \"open",
        &format!("rule r class exact {nested} => ?x"),
    ]));
}

#[test]
fn every_error_of_every_rule_is_reported() {
    let text = "rule a\nclass exact\ncore.nag(?x) => ?x\nrule b\nclass exact\ncore.neg(?x) =>\n\
                rule c\nclass exact\ncore.neg(?x) => ?z\n";
    snapshot!(files(&[text]));
}

#[test]
fn a_name_is_unique_over_all_files() {
    let rule = "rule r class exact core.abs(core.abs(?x)) => core.abs(?x)";
    let errors = RuleSet::load(&registry(), &[("a", rule), ("b", rule)]).unwrap_err();
    assert_eq!(errors.to_string(), "b:1:6: rule `r` is declared twice\n");
}

#[test]
fn alternatives_of_fusions() {
    let fusion = |body: &str| format!("fusion f\nclass exact\nkind silu\n{body}");
    let either = "any(core.exp(?x), core.abs(?x))";
    let deep = (0..10).fold("?y".to_owned(), |term, _| {
        format!("core.add({either}, {term})")
    });
    snapshot!(files(&[
        &fusion("let ?t = core.exp(?x)\ncore.neg(?x)"),
        &fusion("let ?t = core.exp(?x)\nlet ?t = core.neg(?x)\ncore.neg(?t)"),
        "rule r\nclass exact\ncore.mul(?x, near(2)) => core.add(?x, ?x)",
        "rule r\nclass exact\ncore.neg(any(core.exp(?x), core.abs(?x))) => ?x",
        "rule r\nclass exact\nlet ?t = core.exp(?x)\ncore.neg(?t) => ?t",
        "rule r\nclass exact\ncore.neg(?x) => core.mul(?x, near(2))",
        &fusion(&deep),
    ]));
}

#[test]
fn too_many_names_are_refused() {
    let dims: Vec<String> = (0..201).map(|index| format!("d{index}")).collect();
    let text = format!(
        "rule r class exact core.neg(?x: 't[{}]) => ?x",
        dims.join(", ")
    );
    let errors = RuleSet::load(&registry(), &[("own", &text)]).unwrap_err();
    let message = "own:1:20: a rule of more than 200 names of one kind\n";
    assert_eq!(errors.to_string(), message);
}

#[test]
fn every_word_is_in_the_manual() {
    let manual = include_str!("../../../../docs/add-a-rule.md");
    let words = built_in_functions().chain(built_in_predicates());
    let missing: Vec<&str> = words
        .filter(|word| !manual.contains(&format!("`{word}(")))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_rule_knows_where_it_comes_from() {
    let text = "# about it\nrule a\n  class approx(1e-6), nsz\n  engine both\n  phase layout\n  \
                core.abs(core.neg(?x)) => core.abs(?x)\n  source \"why\"\n\n\
                rule b class reassoc core.abs(core.neg(?x)) <=> core.abs(?x)\n";
    let rules = RuleSet::load(&registry(), &[("dir/own.rules", text)]).unwrap();
    let [a, b] = rules.infos() else {
        panic!("two rules")
    };
    assert_eq!(
        (a.name.as_str(), a.file.as_str(), a.line),
        ("a", "dir/own.rules", 2)
    );
    assert_eq!(a.topic(), "own");
    assert_eq!(a.class, FastMath::APPROX.union(FastMath::NSZ));
    assert_eq!(
        (a.tolerance, a.source.as_deref()),
        (Some(1e-6), Some("why"))
    );
    assert_eq!(
        (a.direction, a.engine, a.phase),
        (Direction::Forward, Engine::Both, Phase::Layout)
    );
    assert!(
        a.text.starts_with("rule a\n") && a.text.ends_with("source \"why\""),
        "{}",
        a.text
    );
    assert_eq!((b.line, b.tolerance, b.source.as_deref()), (9, None, None));
    let other = (Direction::Both, Engine::Egraph, Phase::Reassociate);
    assert_eq!((b.direction, b.engine, b.phase), other);
}
