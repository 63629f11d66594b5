//! Every shipped rule acts where it may, keeps the bits, and does not act where it may not.

mod activations;
mod approximations;
mod contractions;
mod convolutions;
mod fusions;
mod gathers;
mod identities;
mod joins;
mod merges;
mod reassociation;
mod reductions;
mod shapes;
mod signs;
mod slices;
mod transposes;

use mind_eqsat::{FastMath, RuleSet, SHIPPED, ShippedOps, fold, fuse};
use mind_ir::graph::Graph;

use crate::support::{assert_same, check, context, dump, registry, shipped};
use crate::text::module;

/// A rule, a module on which it acts, and one that differs in what the rule asks for. A rule for several
/// ops is shown on the first; `EVERY_OP` goes through the others.
pub type Case = (&'static str, &'static str, &'static str);

fn cases() -> impl Iterator<Item = Case> {
    let topics = [
        identities::CASES,
        signs::CASES,
        activations::CASES,
        shapes::CASES,
        transposes::CASES,
        slices::CASES,
        joins::CASES,
        gathers::CASES,
        contractions::CASES,
        merges::CASES,
        convolutions::CASES,
        reductions::CASES,
        reassociation::CASES,
        approximations::CASES,
        fusions::CASES,
    ];
    topics.into_iter().flatten().copied()
}

/// The line of the shipped files that declares `rule`, and the classes it states.
fn declared(rule: &str) -> (&'static str, FastMath) {
    let mut lines = SHIPPED.iter().flat_map(|(_, text)| text.lines());
    let entry = lines.find(|line| line.split(' ').skip(1).eq([rule]));
    let class = lines
        .next()
        .and_then(|line| line.trim().strip_prefix("class "));
    let words = class
        .unwrap_or_else(|| panic!("{rule}: no class"))
        .split(", ");
    let classes = words.map(|word| {
        let name = word.split('(').next().unwrap_or(word);
        FastMath::parse(name).unwrap_or_else(|| panic!("{rule}: no class {word}"))
    });
    (
        entry.unwrap_or_default(),
        classes.fold(FastMath::EXACT, FastMath::union),
    )
}

fn classes(rule: &str) -> FastMath {
    declared(rule).1
}

fn fusion(rule: &str) -> bool {
    declared(rule).0.starts_with("fusion ")
}

/// How often `rule` made something equal, or named a group.
fn applied(rules: &RuleSet, rule: &str, g: &mut Graph) -> usize {
    let cx = mind_eqsat::Context {
        classes: classes(rule),
        ..context(rules)
    };
    let report = if fusion(rule) {
        fuse(g, &cx)
    } else {
        fold(g, &cx)
    };
    check(g);
    let index = rules.names().position(|name| name == rule);
    report.rules[index.unwrap_or_else(|| panic!("no rule {rule}"))].applied
}

#[test]
fn every_rule_acts_on_its_case_and_keeps_the_bits() {
    let rules = shipped();
    let mut idle = Vec::new();
    for (rule, acts, _) in cases() {
        let before = module(acts);
        let mut g = before.clone();
        if applied(&rules, rule, &mut g) == 0 {
            idle.push(format!("{rule} does not act on {acts}\n{}", dump(&g)));
        }
        if classes(rule) == FastMath::EXACT {
            assert_same(&before, &g);
        }
    }
    assert!(idle.is_empty(), "{}", idle.join("\n"));
}

#[test]
fn no_rule_acts_on_its_counterexample() {
    let rules = shipped();
    let mut wrong = Vec::new();
    for (rule, _, differs) in cases() {
        let mut g = module(differs);
        if applied(&rules, rule, &mut g) > 0 {
            wrong.push(format!("{rule} acts on {differs}\n{}", dump(&g)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rules_that_change_bits_wait_for_their_class() {
    let rules = shipped();
    for (rule, acts, _) in cases().filter(|(rule, ..)| classes(rule) != FastMath::EXACT) {
        let before = module(acts);
        let mut g = before.clone();
        let report = fold(&mut g, &context(&rules));
        let index = rules.names().position(|name| name == rule).unwrap();
        assert_eq!(report.rules[index].matched, 0, "{rule}");
        assert_same(&before, &g);
    }
}

#[test]
fn every_rule_says_why_it_holds() {
    for (file, text) in SHIPPED {
        let mut entries: Vec<(&str, bool)> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("rule "), entries.last_mut()) {
                (Some(name), _) => entries.push((name, false)),
                (None, Some(entry)) => entry.1 |= line.trim().starts_with("source \""),
                (None, None) => {}
            }
        }
        let silent: Vec<_> = entries.iter().filter(|(_, said)| !said).collect();
        assert!(silent.is_empty(), "{file}: {silent:?}");
    }
}

#[test]
fn every_rule_has_a_case() {
    let rules = shipped();
    let missing: Vec<&str> = rules
        .names()
        .filter(|name| !cases().any(|(rule, ..)| rule == *name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(cases().all(|(rule, ..)| rules.names().any(|name| name == rule)));
}

/// What a rule written for several ops does to each of them, `OP` standing for it.
const EVERY_OP: &[(&str, &str, &[&str])] = &[
    (
        "transpose-through-unary",
        "transpose(OP(transpose(x:f32[2, 3])))",
        UNARY,
    ),
    (
        "transpose-through-binary",
        "transpose(OP(transpose(x:f32[2, 3]), transpose(y:f32[2, 3])))",
        BINARY,
    ),
    (
        "transpose-through-scalar-rhs",
        "transpose(OP(transpose(x:f32[2, 3]), y:f32[]))",
        BINARY,
    ),
    (
        "transpose-through-scalar-lhs",
        "transpose(OP(y:f32[], transpose(x:f32[2, 3])))",
        &["sub", "div"],
    ),
    (
        "concat-of-unary",
        "concat(OP(x:f32[3]), OP(y:f32[4]), axis=0)",
        UNARY,
    ),
    (
        "slice-of-unary",
        "slice(OP(x:f32[4]), starts=[1], ends=[3], steps=[1])",
        UNARY,
    ),
];

const UNARY: &[&str] = &[
    "neg", "abs", "relu", "exp", "log", "sqrt", "erf", "sigmoid", "tanh", "gelu",
];
const BINARY: &[&str] = &["add", "sub", "mul", "div", "maximum", "minimum"];

#[test]
fn rules_for_several_ops_act_on_each() {
    let rules = shipped();
    for (rule, text, ops) in EVERY_OP {
        for op in *ops {
            let before = module(&text.replace("OP", op));
            let mut g = before.clone();
            assert!(
                applied(&rules, rule, &mut g) > 0,
                "{rule} does not act on {op}"
            );
            assert_same(&before, &g);
        }
    }
}

#[test]
fn what_is_read_for_a_module_holds_every_rule_that_acts_on_it() {
    let registry = registry();
    for (rule, acts, _) in cases() {
        let g = module(acts);
        let all = FastMath::NAMES.iter().map(|(_, class)| *class);
        let classes = all.fold(FastMath::EXACT, FastMath::union);
        let ops = ShippedOps::of(&g, &registry).closed(classes);
        let part = RuleSet::shipped_for(&registry, ops, classes);
        let part = part.unwrap_or_else(|errors| panic!("{errors}"));
        assert!(part.names().any(|name| name == rule), "{rule} for {acts}");
        let mut g = g;
        assert!(applied(&part, rule, &mut g) > 0, "{rule} on {acts}");
    }
}

#[test]
fn rules_that_cannot_act_are_not_read() {
    let registry = registry();
    let g = module("matmul(relu(x:f32[2, 3]), y:f32[3, 4])");
    let ops = ShippedOps::of(&g, &registry).closed(FastMath::EXACT);
    let part = RuleSet::shipped_for(&registry, ops, FastMath::EXACT);
    let part = part.unwrap_or_else(|errors| panic!("{errors}"));
    let has = |rule| part.names().any(|name| name == rule);
    assert!(has("relu-relu") && !has("gelu-tanh") && !has("sub-self-nnan"));
    assert!(part.names().len() * 2 < shipped().names().len());
}
