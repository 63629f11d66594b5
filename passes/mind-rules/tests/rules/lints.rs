//! Rules that are well formed and still cannot be right or of use.

use mind_rules::{RuleSet, SHIPPED, SourceErrors};

use crate::registry;

/// What is found in each source, warnings and errors, each with its notes and its help.
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

#[test]
fn sides_that_are_never_of_one_type() {
    assert_eq!(
        one("rule r\nclass exact\ncore.neg(?x: 't[m]) => core.expand_dims(?x) {axes=[0]}"),
        [
            "3:1: error: the sides of rule `r` are never of one type; the left one is f32[1] where the \
             right one is f32[1, 1]"
        ]
    );
    let sum = "rule r class exact core.sum(?x: 't[m, n]) {axes=[0]} => ?x";
    assert!(one(sum)[0].contains("never of one type"), "{:?}", one(sum));
    let list = "rule r class exact core.concat(?x: 't[m], ?xs..) {axis=0} => ?x";
    assert!(
        one(list)[0].contains("never of one type"),
        "{:?}",
        one(list)
    );
    let sometimes = "rule r class exact core.sum(?x) {axes=[0], keepdims=true} => ?x";
    assert_eq!(one(sometimes), [""; 0]);
    let computed = "rule r class exact core.transpose(core.transpose(?x) {permutation=$p}) {permutation=$q} \
                    => core.transpose(?x) {permutation=compose(perm($p, ?x), perm($q, ?x))}";
    assert_eq!(one(computed), [""; 0]);
}

#[test]
fn rules_that_act_on_their_own_results() {
    let greedy = |rule: &str| one(&format!("rule r\nclass exact\nengine greedy\n{rule}"));
    let forever = ["4:1: error: rule `r` acts on its own results for ever"];
    assert_eq!(
        greedy("core.sub(?x, core.neg(?y)) => core.sub(?y, core.neg(?x))"),
        forever
    );
    assert_eq!(greedy("core.add(?x, ?y) => core.add(?y, ?x)"), forever);
    assert_eq!(
        greedy("core.neg(?x) => core.neg(core.neg(core.neg(?x)))"),
        forever
    );
    assert_eq!(greedy("core.neg(core.neg(?x)) => ?x"), [""; 0]);
    let ends = "core.concat(?xs.., core.concat(?ys..) {axis=$a}, ?zs..) {axis=$a} => \
                core.concat(?xs.., ?ys.., ?zs..) {axis=$a}";
    assert_eq!(greedy(ends), [""; 0]);
    assert_eq!(
        one("rule r class exact core.add(?x, ?y) => core.add(?y, ?x)"),
        [""; 0]
    );
}

#[test]
fn rules_that_act_on_each_others_results() {
    let greedy = |rules: &[&str]| {
        let named = rules.iter().zip('a'..);
        let named =
            named.map(|(rule, name)| format!("rule {name}\nclass exact\nengine greedy\n{rule}\n"));
        one(&named.collect::<String>())
    };
    let to_add = "core.sub(?x, ?y) => core.add(?x, core.neg(?y))";
    let to_sub = "core.add(?x, core.neg(?y)) => core.sub(?x, ?y)";
    let forever = |place: &str, names: &str| {
        [format!(
            "{place}: error: rules {names} act on each other's results for ever"
        )]
    };
    assert_eq!(greedy(&[to_add, to_sub]), forever("4:1", "`a` and `b`"));
    assert_eq!(
        greedy(&["core.neg(core.neg(?x)) => ?x", to_sub, to_add]),
        forever("8:1", "`b` and `c`")
    );
    let three = [
        "core.exp(?x) => core.abs(?x)",
        "core.abs(?x) => core.relu(?x)",
        "core.relu(?x) => core.exp(?x)",
    ];
    assert_eq!(greedy(&three), forever("4:1", "`a` and `b` and `c`"));
    // One way is no ring, nor is one that the e-graph runs; each of two files has a part of a ring.
    assert_eq!(greedy(&[to_add, "core.neg(core.neg(?x)) => ?x"]), [""; 0]);
    assert_eq!(greedy(&three[..2]), [""; 0]);
    let rule = |name, engine, rule| format!("rule {name}\nclass exact\nengine {engine}\n{rule}\n");
    let (first, second) = (rule("a", "greedy", to_add), rule("b", "greedy", to_sub));
    let apart = found(&[("a.rules", first.as_str()), ("b.rules", second.as_str())]);
    assert_eq!(apart, forever("4:1", "`a` and `b`"));
    let other = rule("b", "egraph", to_sub);
    assert_eq!(
        found(&[("a.rules", first.as_str()), ("b.rules", other.as_str())]),
        [""; 0]
    );
    let listed = "rule a\nclass exact\nengine greedy\nfor op in core.exp, core.abs\nop(?x) => core.relu(?x)\n\
                  rule b\nclass exact\nengine greedy\ncore.relu(?x) => core.abs(?x)\n";
    assert_eq!(one(listed), forever("5:1", "`a` and `b`"));
}

#[test]
fn rules_that_an_earlier_one_leaves_nothing_to_do() {
    let first = "rule a class exact core.abs(core.neg(?x)) => core.abs(?x)\n";
    let after = |rule: &str| one(&format!("{first}rule b\n{rule}"));
    assert_eq!(
        after("class exact core.abs(core.neg(core.exp(?y))) => core.abs(core.exp(?y))"),
        [
            "2:6: warning: rule `b` never has anything left to do after `a`; `a` at my.rules:1 is as \
             general and does the same"
        ]
    );
    let other_result = "class exact core.abs(core.neg(core.exp(?y))) => core.exp(?y)";
    assert_eq!(after(other_result), [""; 0]);
    assert_eq!(
        after("class nsz core.abs(core.neg(?y)) => core.abs(?y)").len(),
        1
    );
    assert_eq!(
        after("class exact engine both core.abs(core.neg(?y)) => core.abs(?y)"),
        [""; 0]
    );
    let nsz = "rule a class nsz core.abs(core.neg(?x)) => core.abs(?x)\n\
               rule b class exact core.abs(core.neg(?x)) => core.abs(?x)";
    assert_eq!(one(nsz), [""; 0]);
    let shipped: Vec<(&str, &str)> = SHIPPED.to_vec();
    let own = (
        "my.rules",
        "rule mine class exact core.neg(core.neg(?value)) => ?value",
    );
    let all: Vec<(&str, &str)> = shipped.into_iter().chain([own]).collect();
    let warnings = found(&all);
    assert!(
        warnings[0].contains("after `neg-neg`; `neg-neg` at signs.rules:"),
        "{warnings:?}"
    );
}

#[test]
fn nothing_speaks_against_the_shipped_rules() {
    let copies: Vec<(&str, String)> = SHIPPED
        .iter()
        .map(|(name, text)| (*name, (*text).to_owned()))
        .collect();
    let sources: Vec<(&str, &str)> = copies
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    assert_eq!(found(&sources), [""; 0]);
}
