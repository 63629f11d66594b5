//! Lints of well-formed rules.

use mind_rules::{RuleSet, SHIPPED, SourceErrors};
use mind_snapshot::snapshot;

use crate::registry;

/// Returns the warnings and errors of each source, with their notes.
fn found(sources: &[(&str, &str)]) -> Vec<String> {
    let show = |source: &SourceErrors| -> Vec<String> {
        let shown = source.diagnostics.iter().map(|each| {
            let (line, column) = source.file.position(each.span);
            let word = each.severity.word();
            let notes: String = each.notes.iter().map(|note| format!("; {note}")).collect();
            format!("{line}:{column}: {word}: {}{notes}", each.message)
        });
        shown.collect()
    };
    match RuleSet::load(&registry(), sources) {
        Ok(rules) => rules.warnings().iter().flat_map(show).collect(),
        Err(errors) => errors.0.iter().flat_map(show).collect(),
    }
}

fn one(text: &str) -> Vec<String> {
    found(&[("my.rules", text)])
}

/// Returns the diagnostics of each file.
fn each<const N: usize>(texts: [String; N]) -> String {
    let shown = texts.map(|text| {
        let found = match one(&text) {
            found if found.is_empty() => "nothing".to_owned(),
            found => found.join("\n    "),
        };
        format!("{}\n    {found}\n", text.trim_end())
    });
    shown.join("\n")
}

#[test]
fn sides_that_are_never_of_one_type() {
    let rules = [
        "core.neg(?x: 't[m]) => core.expand_dims(?x) {axes=[0]}",
        "core.sum(?x: 't[m, n]) {axes=[0]} => ?x",
        "core.concat(?x: 't[m], ?xs..) {axis=0} => ?x",
        "core.sum(?x) {axes=[0], keepdims=true} => ?x",
        "core.transpose(core.transpose(?x) {permutation=$p}) {permutation=$q} \
         => core.transpose(?x) {permutation=compose(perm($p, ?x), perm($q, ?x))}",
    ];
    snapshot!(each(
        rules.map(|rule| format!("rule r\nclass exact\n{rule}"))
    ));
}

#[test]
fn rules_that_act_on_their_own_results() {
    let greedy = [
        "core.sub(?x, core.neg(?y)) => core.sub(?y, core.neg(?x))",
        "core.add(?x, ?y) => core.add(?y, ?x)",
        "core.neg(?x) => core.neg(core.neg(core.neg(?x)))",
        "core.neg(core.neg(?x)) => ?x",
        "core.concat(?xs.., core.concat(?ys..) {axis=$a}, ?zs..) {axis=$a} => \
         core.concat(?xs.., ?ys.., ?zs..) {axis=$a}",
    ];
    snapshot!(each(greedy.map(|rule| format!(
        "rule r\nclass exact\nengine greedy\n{rule}"
    ))));
    let egraph = "rule r class exact core.add(?x, ?y) => core.add(?y, ?x)";
    assert_eq!(one(egraph), [""; 0]);
}

#[test]
fn rules_that_act_on_each_others_results() {
    let rule = |name: char, engine: &str, rule: &str| {
        format!("rule {name}\nclass exact\nengine {engine}\n{rule}\n")
    };
    let greedy = |rules: &[&str]| {
        let named = rules.iter().zip('a'..);
        named
            .map(|(own, name)| rule(name, "greedy", own))
            .collect::<String>()
    };
    let to_add = "core.sub(?x, ?y) => core.add(?x, core.neg(?y))";
    let to_sub = "core.add(?x, core.neg(?y)) => core.sub(?x, ?y)";
    let neg_neg = "core.neg(core.neg(?x)) => ?x";
    let three = [
        "core.exp(?x) => core.abs(?x)",
        "core.abs(?x) => core.relu(?x)",
        "core.relu(?x) => core.exp(?x)",
    ];
    snapshot!(each([
        greedy(&[to_add, to_sub]),
        greedy(&[neg_neg, to_sub, to_add]),
        greedy(&three),
        "rule a\nclass exact\nengine greedy\nfor op in core.exp, core.abs\nop(?x) => core.relu(?x)\n\
         rule b\nclass exact\nengine greedy\ncore.relu(?x) => core.abs(?x)\n"
            .to_owned(),
        // One direction is not a cycle, and neither is one that only the e-graph runs.
        greedy(&[to_add, neg_neg]),
        greedy(&three[..2]),
    ]));
    // The cycle spans two files.
    let (first, second) = (rule('a', "greedy", to_add), rule('b', "greedy", to_sub));
    assert_eq!(
        found(&[("a.rules", &first), ("b.rules", &second)]),
        ["4:1: error: rules `a` and `b` rewrite each other's results forever"]
    );
    let other = rule('b', "egraph", to_sub);
    assert_eq!(found(&[("a.rules", &first), ("b.rules", &other)]), [""; 0]);
}

#[test]
fn shadowed_rules_are_reported() {
    let after = |rule: &str| {
        let first = "rule a class exact core.abs(core.neg(?x)) => core.abs(?x)";
        format!("{first}\nrule b\n{rule}")
    };
    snapshot!(each([
        after("class exact core.abs(core.neg(core.exp(?y))) => core.abs(core.exp(?y))"),
        after("class exact core.abs(core.neg(core.exp(?y))) => core.exp(?y)"),
        after("class nsz core.abs(core.neg(?y)) => core.abs(?y)"),
        after("class exact engine both core.abs(core.neg(?y)) => core.abs(?y)"),
        "rule a class nsz core.abs(core.neg(?x)) => core.abs(?x)\n\
         rule b class exact core.abs(core.neg(?x)) => core.abs(?x)"
            .to_owned(),
    ]));
    let own = (
        "my.rules",
        "rule mine class exact core.neg(core.neg(?value)) => ?value",
    );
    let all: Vec<(&str, &str)> = SHIPPED.iter().copied().chain([own]).collect();
    let warnings = found(&all);
    assert!(
        warnings[0].contains("shadowed by `neg-neg`; `neg-neg` at signs.rules:"),
        "{warnings:?}"
    );
}

#[test]
fn nothing_speaks_against_the_shipped_rules() {
    assert_eq!(found(SHIPPED), [""; 0]);
}
