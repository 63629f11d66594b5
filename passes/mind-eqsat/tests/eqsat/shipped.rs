//! Every shipped rule applies to its example, keeps the bits, and does not apply to its counterexample.

use std::iter;
use std::sync::LazyLock;

use mind_eqsat::cost::{CHANNELS_FIRST, HOST_CPU};
use mind_eqsat::{fold, fuse};
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;
use mind_rules::{
    Engine, FastMath, Phase, ReplacementBuffers, RuleSelection, RuleSet, SHIPPED, ShippedOps,
};

use crate::support::{assert_same, check, context, dump, registry, shipped};
use crate::text::module;

/// A rule, a module to which it applies, and a similar one that violates its condition. A rule for several ops has a
/// case for the first op; `EVERY_OP` tests the others.
pub type Case = (&'static str, &'static str, &'static str);

/// The cases of each rule file, for example `shipped/signs.txt` for `signs.rules`.
static CASES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let text = |&(file, _): &(&'static str, &str)| {
        let topic = file.trim_end_matches(".rules");
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/eqsat/shipped");
        let text = std::fs::read_to_string(format!("{folder}/{topic}.txt"));
        (
            topic,
            text.unwrap_or_else(|error| panic!("{topic}: {error}")),
        )
    };
    SHIPPED.iter().map(text).collect()
});

fn cases() -> impl Iterator<Item = Case> {
    CASES.iter().flat_map(|(_, text)| read(text))
}

/// Returns the cases of `topic.rules`.
pub fn cases_of(topic: &str) -> impl Iterator<Item = Case> {
    let own = CASES.iter().filter(move |(other, _)| *other == topic);
    own.flat_map(|(_, text)| read(text))
}

/// Reads cases of three lines each; skips blank lines and comments after `#`.
fn read(text: &'static str) -> impl Iterator<Item = Case> {
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    iter::from_fn(move || {
        let rule = lines.next()?;
        let modules = lines.next().zip(lines.next());
        let (acts, differs) = modules.unwrap_or_else(|| panic!("{rule}: two modules are expected"));
        Some((rule, acts, differs))
    })
}

/// Returns the line of the shipped files that declares `rule`, and the classes it states.
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

/// Returns how often `rule` united classes or named a group.
fn applied(rules: &RuleSet, rule: &str, g: &mut Graph) -> usize {
    if !engine(rules, rule).in_egraph() {
        return usize::from(acts_greedily(rules, rule, g));
    }
    let index = rules.names().position(|name| name == rule);
    let index = index.unwrap_or_else(|| panic!("no rule {rule}"));
    let phase = rules.infos()[index].phase;
    let cost = match phase {
        Phase::ChannelsFirst => &CHANNELS_FIRST,
        _ => &HOST_CPU,
    };
    let cx = mind_eqsat::Context {
        classes: classes(rule),
        cost,
        ..context(rules)
    };
    let report = match phase {
        Phase::Idiom | Phase::Fusion => fuse(g, &cx),
        _ => fold(g, &cx),
    };
    check(g);
    report.rules[index].applied
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

/// A rule for a trait, a module in which `OP` is replaced by each op with the trait, the number of operands, and a
/// filter of the ops.
type EveryOp = (&'static str, &'static str, usize, fn(&OpDef) -> bool);

const ANY: fn(&OpDef) -> bool = |_| true;
const ORDERED: fn(&OpDef) -> bool = |def| !def.has(Trait::Commutative);
const TOTAL: fn(&OpDef) -> bool = |def| def.scalar.is_some_and(ScalarFn::is_total);
const PARTIAL: fn(&OpDef) -> bool = |def| !TOTAL(def);

const EVERY_OP: &[EveryOp] = &[
    (
        "transpose-through-unary",
        "transpose(OP(transpose(x:f32[2, 3])))",
        1,
        ANY,
    ),
    (
        "transpose-through-binary",
        "transpose(OP(transpose(x:f32[2, 3]), transpose(y:f32[2, 3])))",
        2,
        ANY,
    ),
    (
        "transpose-through-scalar-rhs",
        "transpose(OP(transpose(x:f32[2, 3]), y:f32[]))",
        2,
        ANY,
    ),
    (
        "transpose-through-scalar-lhs",
        "transpose(OP(y:f32[], transpose(x:f32[2, 3])))",
        2,
        ORDERED,
    ),
    (
        "bias-of-transpose-rhs",
        "OP(transpose(x:f32[3, 2]), y:f32[3])",
        2,
        ANY,
    ),
    (
        "bias-of-transpose-lhs",
        "OP(y:f32[3], transpose(x:f32[3, 2]))",
        2,
        ORDERED,
    ),
    (
        "concat-of-unary",
        "concat(OP(x:f32[3]), OP(y:f32[4]), axis=0)",
        1,
        ANY,
    ),
    (
        "slice-of-unary",
        "slice(OP(x:f32[4]), starts=[1], ends=[3], steps=[1])",
        1,
        ANY,
    ),
    (
        "reshape-through-unary",
        "reshape(OP(reshape(x:f32[2, 3], new_shape=[6])), new_shape=[2, 3])",
        1,
        ANY,
    ),
    (
        "reshape-through-binary",
        "reshape(OP(reshape(x:f32[2, 3], new_shape=[6]), reshape(y:f32[2, 3], new_shape=[6])), new_shape=[2, 3])",
        2,
        ANY,
    ),
    (
        "concat-of-binary",
        "concat(OP(x:f32[3], y:f32[3]), OP(z:f32[4], w:f32[4]), axis=0)",
        2,
        ANY,
    ),
    (
        "slice-of-binary",
        "slice(OP(x:i32[4], y:i32[4]), starts=[1], ends=[3], steps=[1])",
        2,
        TOTAL,
    ),
    (
        "slice-of-quotient",
        "slice(OP(x:f32[4], y:f32[4]), starts=[1], ends=[3], steps=[1])",
        2,
        PARTIAL,
    ),
    (
        "gather-of-unary",
        "gather(OP(x:f32[40, 3]), data[1, 2]:i32[2], axis=0)",
        1,
        ANY,
    ),
    (
        "gather-of-binary",
        "gather(OP(x:i32[40, 3], y:i32[40, 3]), data[1, 2]:i32[2], axis=0)",
        2,
        TOTAL,
    ),
];

/// Returns `text` with the op `op`, on integers if it does not accept floats and on floats if it does not accept
/// integers.
fn on_a_dtype_of(op: &str, text: &str) -> String {
    let mut defs = mind_core::DIALECT.ops.iter();
    let def = defs.find(|def| def.short_name() == op).expect("an op");
    let text = text.replace("OP", op);
    let takes = |dtype| def.operands[0].class.admits(dtype);
    match (takes(DType::F32), takes(DType::I32)) {
        (true, true) => text,
        (false, _) => text.replace("f32", "i32"),
        (true, false) => text.replace("x:i32", "x:f32").replace("y:i32", "y:f32"),
    }
}

/// Returns the elementwise ops of the core dialect with this many operands that `fits` accepts.
fn elementwise(operands: usize, fits: fn(&OpDef) -> bool) -> Vec<&'static str> {
    // Rules for several ops do not apply to ops with attributes.
    let plain = |def: &OpDef| def.has(Trait::Elementwise) && def.attrs.is_empty();
    let own = |def: &&OpDef| plain(def) && def.operands.len() == operands && fits(def);
    let defs = mind_core::DIALECT.ops.iter().copied().filter(own);
    defs.map(OpDef::short_name).collect()
}

#[test]
fn rules_for_several_ops_act_on_each() {
    let rules = shipped();
    for (rule, text, operands, fits) in EVERY_OP {
        for op in elementwise(*operands, *fits) {
            let before = module(&on_a_dtype_of(op, text));
            let mut g = before.clone();
            assert!(
                applied(&rules, rule, &mut g) > 0,
                "{rule} does not act on {op}"
            );
            assert_same(&before, &g);
        }
    }
}

fn engine(rules: &RuleSet, rule: &str) -> Engine {
    let own = rules.infos().iter().find(|info| info.name == rule);
    own.unwrap_or_else(|| panic!("no rule {rule}")).engine
}

/// Returns whether the greedy driver would apply `rule` somewhere.
fn acts_greedily(rules: &RuleSet, rule: &str, g: &Graph) -> bool {
    let forms = rules.greedy(FastMath::EXACT);
    forms
        .filter(|form| rules.name(rules.rule_of(*form)) == rule)
        .any(|form| {
            let root = rules.root_of(form);
            let mut ops = g.walk().filter(|op| std::ptr::eq(g.def(*op), root));
            let mut buffers = ReplacementBuffers::default();
            ops.any(|op| rules.replacement(form, g, op, &mut buffers).is_ok())
        })
}

/// The greedy driver applies a rule wherever it matches, so it must also apply to the case and not to the
/// counterexample.
#[test]
fn rules_for_both_engines_act_in_the_greedy_one() {
    let rules = shipped();
    let acts = |rule: &str, g: &Graph| acts_greedily(&rules, rule, g);
    for info in rules.infos().iter().filter(|info| info.engine.in_greedy()) {
        let name = info.name.as_str();
        let mut own = cases().filter(|(rule, ..)| *rule == name);
        assert!(own.any(|(_, case, _)| acts(name, &module(case))), "{name}");
    }
    for (rule, _, differs) in cases().filter(|(rule, ..)| engine(&rules, rule).in_greedy()) {
        assert!(!acts(rule, &module(differs)), "{rule} acts on {differs}");
    }
}

#[test]
fn what_is_read_for_a_module_holds_every_rule_that_acts_on_it() {
    let (registry, all) = (registry(), shipped());
    let classes = FastMath::NAMES.iter().map(|(_, class)| *class);
    let classes = classes.fold(FastMath::EXACT, FastMath::union);
    for (rule, acts, _) in cases() {
        let g = module(acts);
        for greedy in [true, false] {
            let selection = RuleSelection { classes, greedy };
            let ops = ShippedOps::of(&g, &registry).closed(&registry, selection);
            let part = RuleSet::shipped_for(&registry, &ops, selection);
            let part = part.unwrap_or_else(|errors| panic!("{errors}"));
            let has = part.names().any(|name| name == rule);
            if greedy {
                assert_eq!(has, engine(&all, rule).in_greedy(), "{rule} for {acts}");
            } else {
                let acts_here = engine(&all, rule).in_egraph();
                assert_eq!(has, acts_here, "{rule} for {acts}");
                assert!(
                    !acts_here || applied(&part, rule, &mut g.clone()) > 0,
                    "{rule} on {acts}"
                );
            }
        }
    }
}

/// Returns the exact rules of the e-graph that are loaded for the module `text`.
fn read_for(text: &'static str) -> RuleSet {
    let registry = registry();
    let selection = RuleSelection {
        classes: FastMath::EXACT,
        greedy: false,
    };
    let ops = ShippedOps::of(&module(text), &registry).closed(&registry, selection);
    let part = RuleSet::shipped_for(&registry, &ops, selection);
    part.unwrap_or_else(|errors| panic!("{errors}"))
}

/// A rotation becomes a select between the two numbers of a pair, which only a fusion may rewrite.
#[test]
fn what_idioms_make_loads_no_rules_but_fusions() {
    let part = read_for(
        "x:f32[4, 8] -> add(mul(x, c:f32[8]), mul(concat(neg(split(x, axis=1, count=2, part=1)), split(x, axis=1, count=2, part=0), axis=1), s:f32[4, 8]))",
    );
    let has = |rule| part.names().any(|name| name == rule);
    assert!(has("rotate-halves") && has("rotary"));
    assert!(!has("select-same") && !has("select-not"));
}

#[test]
fn rules_that_cannot_act_are_not_read() {
    let part = read_for("matmul(relu(x:f32[2, 3]), y:f32[3, 4])");
    let has = |rule| part.names().any(|name| name == rule);
    assert!(has("relu-relu") && !has("gelu-tanh") && !has("sub-self-nnan"));
    assert!(part.names().len() * 2 < shipped().names().len());
}
