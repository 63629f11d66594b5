//! Rule files: what is refused, where and in which words.

use mind_rules::{
    Direction, Engine, FastMath, Phase, RuleSet, built_in_functions, built_in_predicates,
};

use crate::registry;

/// An error as `line:column: message; help`; equal to a text with or without the help, which
/// `lit_tests/mind-eqsat/rules/mistakes.test` shows.
#[derive(Clone, Debug)]
struct Shown(String);

impl PartialEq<&str> for Shown {
    fn eq(&self, other: &&str) -> bool {
        let rest = self.0.strip_prefix(other);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("; "))
    }
}

impl std::ops::Deref for Shown {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// `line:column: message; help` of everything wrong with `text`.
fn errors(text: &str) -> Vec<Shown> {
    let Err(errors) = RuleSet::load(&registry(), &[("my.rules", text)]) else {
        return Vec::new();
    };
    let [source] = errors.0.as_slice() else {
        panic!("one source")
    };
    let file = &source.file;
    assert_eq!(file.name(), "my.rules");
    let shown = source.diagnostics.iter().map(|found| {
        let (line, column) = file.position(found.span);
        match &found.help {
            Some(help) => Shown(format!("{line}:{column}: {}; {help}", found.message)),
            None => Shown(format!("{line}:{column}: {}", found.message)),
        }
    });
    shown.collect()
}

/// The error of a rule whose line 3 is `line`.
fn error(line: &str) -> Shown {
    let found = errors(&format!("rule r\nclass exact\n{line}\n"));
    let [error] = found.as_slice() else {
        panic!("one error, found {found:?}")
    };
    error.clone()
}

#[test]
fn ops_and_arity() {
    assert_eq!(
        error("core.matmull(?a, ?b) => ?a"),
        "3:1: unknown op `core.matmull`; did you mean `core.matmul`?"
    );
    assert_eq!(error("xyz(?a) => ?a"), "3:1: unknown op `xyz`");
    assert_eq!(
        error("core.add(?a) => ?a"),
        "3:1: `core.add` takes 2 operands (lhs, rhs), found 1"
    );
    assert_eq!(
        error("core.neg(core.input()) => core.neg(?x)"),
        "3:10: `core.input` cannot stand in a rule; rules are about pure ops of one result, without \
         regions, whose type is inferred"
    );
    assert_eq!(
        error("core.concat(..xs) {axis=$a} => ?x"),
        "3:13: `..xs` is a list of extents, not of values; any number of operands are written `?xs..`"
    );
}

#[test]
fn traits() {
    assert_eq!(
        error("for op in elementwize/1\nop(?x) => ?x"),
        "3:11: unknown trait `elementwize`; did you mean `elementwise`?"
    );
    assert_eq!(
        error("for op in core.neg/1\nop(?x) => ?x"),
        "3:11: unknown trait `core.neg`; it is one of `elementwise`, `commutative`, `partial`"
    );
    assert_eq!(
        error("for op in elementwise/3\nop(?x) => ?x"),
        "3:11: no op has the trait `elementwise/3`; there are ops of `elementwise/1` and `elementwise/2`"
    );
    assert_eq!(
        error("for op in elementwise/99999999999999999999\nop(?x) => ?x"),
        "3:11: no op has the trait `elementwise/99999999999999999999`; there are ops of `elementwise/1` and \
         `elementwise/2`"
    );
    assert_eq!(
        error("for op in core.add, not commutative\nop(?x, ?y) => ?x"),
        "3:11: this list has no op; `not` takes ops away from those listed, as in \
         `elementwise/2, not commutative`"
    );
    assert_eq!(
        error("for op in not partial\nop(?x, ?y) => ?x"),
        "3:15: this list has no op; `not` takes ops away from those listed, as in \
         `elementwise/2, not commutative`"
    );
    assert_eq!(
        error("for op in neg\nop(?x) => ?x"),
        "3:11: unknown op `neg`; did you mean `core.neg`?"
    );
    assert_eq!(
        error("for op in core.input\nop(?x) => ?x"),
        "3:11: `core.input` cannot stand in a rule; rules are about pure ops of one result, without \
         regions, whose type is inferred"
    );
    assert_eq!(
        error("for op in elementwise\nop(?x) => ?x"),
        "4:1: `core.add` takes 2 operands (lhs, rhs), found 1"
    );
    assert_eq!(
        error("for op in elementwise/1/\nop(?x) => ?x"),
        "3:24: `/` starts no token; a comment starts with `#`"
    );
}

#[test]
fn names() {
    assert_eq!(
        error("core.neg(?x) => core.neg(?y)"),
        "3:26: `?y` is not bound by the left side; did you mean `?x`?"
    );
    assert_eq!(
        error("core.neg(?input) => core.neg(?other)"),
        "3:30: `?other` is not bound by the left side; it binds `?input`"
    );
    assert_eq!(
        error("core.transpose(?x) {permutation=$p} => core.transpose(?x) {permutation=$q}"),
        "3:72: `$q` is not bound by the left side; did you mean `$p`?"
    );
    assert_eq!(
        error("where is_float('t) core.neg(?x) => ?x"),
        "3:16: `'t` is not bound by the left side"
    );
    assert_eq!(
        error("?x => ?x"),
        "3:1: a lone value matches everything; the left side starts \
        with an op; write `=>` where the right side does not"
    );
}

#[test]
fn attributes() {
    assert_eq!(
        error("core.transpose(?x) {perm=$p} => ?x"),
        "3:21: `core.transpose` has no attribute `perm`; it is one of `permutation`"
    );
    assert_eq!(
        error("core.transpose(?x) {permutatoin=$p} => ?x"),
        "3:21: `core.transpose` has no attribute `permutatoin`; did you mean `permutation`?"
    );
    assert_eq!(
        error("core.reshape(?x) => ?x"),
        "3:1: attribute `new_shape` of `core.reshape` is not written; bind it, as in `{new_shape=$a}`"
    );
    assert_eq!(
        error("core.sum(?x) {axes=true} => ?x"),
        "3:20: attribute `axes` is a list of integers, found true or false"
    );
    assert_eq!(
        error("core.sum(?x) {axes=$a, axes=$b} => ?x"),
        "3:24: attribute `axes` is written twice"
    );
    assert_eq!(
        error(
            "core.neg(core.transpose(?x) {permutation=$p}) => core.transpose(?x) {permutation=rank(?x)}"
        ),
        "3:82: attribute `permutation` is a list of integers, found an integer"
    );
    assert_eq!(
        error("core.neg(core.transpose(?x) {permutation=inverse([1, 0])}) => ?x"),
        "3:42: a computed `permutation` cannot be matched; bind it, as in `{perm=$p}`, and compare it \
         under `where`"
    );
}

#[test]
fn conditions() {
    assert_eq!(
        error("where is_flaot(?x) core.neg(?x) => ?x"),
        "3:7: unknown predicate `is_flaot`; did you mean `is_float`?"
    );
    assert_eq!(
        error("where is_float(?x, ?x) core.neg(?x) => ?x"),
        "3:7: `is_float` takes 1 argument, found 2; it takes a value such as `?x` or a dtype such as `'t`"
    );
    assert_eq!(
        error("where rank(3) == 2 core.neg(?x) => ?x"),
        "3:12: `rank` takes a value such as `?x` here, found an integer"
    );
    assert_eq!(
        error("where runk(?x) == 2 core.neg(?x) => ?x"),
        "3:7: unknown function `runk`; did you mean `rank`?"
    );
    assert_eq!(
        error("where shape(?x) < shape(?x) core.neg(?x) => ?x"),
        "3:17: `<` cannot compare a shape with a shape"
    );
    assert_eq!(
        error("where rank(?x) core.neg(?x) => ?x"),
        "3:7: unknown predicate `rank`"
    );
}

#[test]
fn rules_as_a_whole() {
    assert_eq!(
        errors("rule r\ncore.neg(?x) => ?x"),
        [
            "1:6: rule `r` has no class; write `class exact` if it keeps every bit, else `nsz`, `nnan`, \
          `reassoc` or `approx`"
        ]
    );
    assert_eq!(
        errors("rule r\nclass exakt\ncore.neg(?x) => ?x"),
        ["2:7: unknown class `exakt`; did you mean `exact`?"]
    );
    let twice = "rule r\nclass exact\ncore.abs(?x) => ?x\nrule r\nclass exact\ncore.neg(?x) => ?x";
    assert_eq!(errors(twice), ["4:6: rule `r` is declared twice"]);
    assert_eq!(
        errors("fusion f\nclass exact\ncore.neg(?x)"),
        [
            "1:8: fusion `f` has no kind; write `kind` and one of contraction, softmax, layernorm, \
          rmsnorm, gelu_erf, gelu_tanh, silu, swiglu, attention, elementwise, reduction"
        ]
    );
    assert_eq!(
        errors("rule r\nclass exact\nengine greedy\ncore.neg(?x) <=> core.abs(?x)"),
        [
            "3:8: `<=>` is for the e-graph: the greedy engine would go round in circles; write `=>`, or \
          `engine egraph`"
        ]
    );
    assert_eq!(
        errors("rule r\nclass exact\nphase late\ncore.neg(?x) => core.abs(?x)"),
        ["3:7: unknown phase `late`"]
    );
}

#[test]
fn lists_of_operands() {
    assert_eq!(
        error("core.add(?xs..) => ?x"),
        "3:1: `core.add` takes 2 operands (lhs, rhs), found 1"
    );
    assert_eq!(
        error("core.neg(?xs..) => core.neg(?x)"),
        "3:10: `?xs..` stands for any number of operands; this op takes a fixed number; write one name \
         for each"
    );
    assert_eq!(
        error("core.concat(?xs..) {axis=$a} => core.neg(?xs)"),
        "3:42: `?xs` is a list of values; write `?xs..` among the operands of an op"
    );
    assert_eq!(
        error("core.concat(?xs..) {axis=$a} => core.neg(?xs..)"),
        "3:42: `?xs..` stands for any number of operands"
    );
    assert_eq!(
        error("core.concat(?x, ?xs..) {axis=$a} => core.concat(?x..) {axis=$a}"),
        "3:49: `?x` is one value, not a list"
    );
    assert_eq!(
        error("core.concat(?xs.., ?xs) {axis=$a} => core.concat(?xs..) {axis=$a}"),
        "3:20: `?xs` cannot be a value and a list of values"
    );
    assert_eq!(
        error("core.concat(?xs.., ?ys.., ?zs..) {axis=$a} => core.concat(?xs..) {axis=$a}"),
        "3:1: at most two lists of operands in one op"
    );
    assert_eq!(
        error(
            "core.concat(core.concat(?xs..) {axis=$a} ..) {axis=$a} => core.concat(?xs..) {axis=$a}"
        ),
        "3:13: a list of lists of operands cannot be matched"
    );
    assert_eq!(
        error("core.concat(?xs..) {axis=$a} => core.concat(core.neg(?x) ..) {axis=$a}"),
        "3:54: `?x` is not bound by the left side"
    );
    assert_eq!(
        error("core.concat(?x, ?xs..) {axis=$a} => core.concat(core.neg(?x) ..) {axis=$a}"),
        "3:49: this term for each value of which list?; a term before `..` holds a list, as in \
         `core.neg(?xs..) ..`"
    );
    assert_eq!(
        error("where count(?x) == 2 core.concat(?x, ?xs..) {axis=$a} => ?x"),
        "3:7: `count` takes a list such as `?xs..`"
    );
    assert_eq!(
        error("core.concat(?xs..) {axis=$a} => core.concat(?xs..) {axis=rank(?xs..)}"),
        "3:58: an attribute of one op cannot depend on each value of a list"
    );
}

#[test]
fn all_that_is_wrong_with_one_rule_is_reported() {
    let text = "rule r\nphase late\nwhere is_flat(?x) and rang(?y) == 2\n\
                core.nag(core.nig(?x)) => core.adds(?z, core.neg(?x, ?x))\n";
    assert_eq!(
        errors(text),
        [
            "1:6: rule `r` has no class; write `class exact` if it keeps every bit, else `nsz`, `nnan`, \
             `reassoc` or `approx`",
            "2:7: unknown phase `late`",
            "3:7: unknown predicate `is_flat`; did you mean `is_float`?",
            "3:23: unknown function `rang`; did you mean `rank`?",
            "4:1: unknown op `core.nag`; did you mean `core.neg`?",
            "4:10: unknown op `core.nig`; did you mean `core.neg`?",
            "4:27: unknown op `core.adds`; did you mean `core.add`?",
            "4:41: `core.neg` takes 1 operand (input), found 2",
        ]
    );
}

#[test]
fn syntax() {
    assert_eq!(error("core.neg(?x) ="), "3:14: expected `=>`, found `=`");
    assert_eq!(error("core.neg(?x =>"), "3:13: expected `,`, found `=>`");
    assert_eq!(
        error("core.neg(?x) => ?x ?y"),
        "3:20: expected the next `rule`, found `?y`"
    );
    assert_eq!(
        errors("hello"),
        ["1:1: expected `rule` or `fusion`, found `hello`"]
    );
    assert_eq!(
        errors("rule"),
        ["1:5: expected the rule's name, found the end of the file"]
    );
    assert_eq!(errors("%"), ["1:1: `%` starts no token"]);
    assert_eq!(
        errors("rule r class exact core.neg(?x) => ?x source \"open"),
        [
            "1:46: string without closing quote",
            "1:51: expected a string, found the end of the file"
        ]
    );
    let deep = format!(
        "rule r class exact {}?x{} => ?x",
        "core.neg(".repeat(99),
        ")".repeat(99)
    );
    assert_eq!(errors(&deep), ["1:317: nested more than 32 deep"]);
}

#[test]
fn every_error_of_every_rule_is_reported() {
    let text = "rule a\nclass exact\ncore.nag(?x) => ?x\nrule b\nclass exact\ncore.neg(?x) =>\n\
                rule c\nclass exact\ncore.neg(?x) => ?z\n";
    assert_eq!(
        errors(text),
        [
            "3:1: unknown op `core.nag`; did you mean `core.neg`?",
            "7:1: expected a value such as `?x` or an op such as `core.add(...)`, found `rule`",
            "9:17: `?z` is not bound by the left side; did you mean `?x`?",
        ]
    );
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
    assert_eq!(
        errors(&fusion("let ?t = core.exp(?x)\ncore.neg(?x)")),
        ["4:5: `?t` is defined and stands nowhere below; use it, or drop the line"]
    );
    assert_eq!(
        errors(&fusion(
            "let ?t = core.exp(?x)\nlet ?t = core.neg(?x)\ncore.neg(?t)"
        )),
        ["5:5: `?t` is defined twice"]
    );
    assert_eq!(
        errors("rule r\nclass exact\ncore.mul(?x, near(2)) => core.add(?x, ?x)"),
        ["3:14: `near` stands in the patterns of fusions only; write one rule for each case"]
    );
    assert_eq!(
        errors("rule r\nclass exact\ncore.neg(any(core.exp(?x), core.abs(?x))) => ?x"),
        ["3:10: `any` stands in the patterns of fusions only; write one rule for each case"]
    );
    assert_eq!(
        errors("rule r\nclass exact\nlet ?t = core.exp(?x)\ncore.neg(?t) => ?t"),
        ["3:5: `let` stands in the patterns of fusions only; write one rule for each case"]
    );
    assert_eq!(
        errors("rule r\nclass exact\ncore.neg(?x) => core.mul(?x, near(2))"),
        ["3:30: `near` stands in the patterns of fusions only; write one rule for each case"]
    );
    let either = "any(core.exp(?x), core.abs(?x))";
    let deep = (0..10).fold("?y".to_owned(), |term, _| {
        format!("core.add({either}, {term})")
    });
    assert_eq!(
        errors(&fusion(&deep)),
        [
            "1:8: fusion `f` stands for more than 512 patterns; write several fusions of one kind, each with \
          fewer alternatives"
        ]
    );
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
