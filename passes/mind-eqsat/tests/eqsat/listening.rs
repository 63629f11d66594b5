//! Listeners: vetoed changes, reasons, chains and drawings.

use mind_diag::Span;
use mind_eqsat::{Context, Report, fold_with, fuse_with};
use mind_ir::Graph;
use mind_ir::listener::{Listener, NoopListener, Rewrite};
use mind_ir::types::DType;
use mind_rules::RuleSet;

use crate::generate;
use crate::support::{assert_same, check, context, dump, registry, shipped};
use crate::text::module;

/// Admits a limited number of rewrites, and records all calls.
#[derive(Default)]
struct Limited {
    left: Option<usize>,
    made: usize,
    chains: Vec<String>,
    costs: Vec<(u64, u64)>,
    asks: &'static str,
    missed: Vec<String>,
}

impl Listener for Limited {
    fn admits(&self, _: &[&str]) -> bool {
        self.left != Some(0)
    }

    fn admit(&mut self, rules: &[&str]) -> bool {
        let admitted = self.admits(rules);
        self.left = self.left.map(|left| left.saturating_sub(1));
        admitted
    }

    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        self.made += 1;
        let steps: Vec<String> = rewrite
            .steps
            .iter()
            .map(|step| {
                let (file, line) = step.place.unwrap_or(("", 0));
                let back = if step.reversed { " back" } else { "" };
                format!("{} {file}:{line}{back}", step.rule)
            })
            .collect();
        let op = g.def(rewrite.op).short_name();
        self.chains.push(format!("{op}: {}", steps.join(", ")));
        self.costs
            .extend(rewrite.cost.map(|cost| (cost.before, cost.after)));
    }

    fn observes_missed(&self, rule: &str) -> bool {
        rule == self.asks
    }

    fn missed(&mut self, _: Span, _: &str, reason: &str) {
        self.missed.push(reason.to_owned());
    }
}

fn limited(left: usize) -> Limited {
    Limited {
        left: Some(left),
        ..Limited::default()
    }
}

type Run = fn(&mut Graph, &Context<'_>, &mut dyn Listener, Option<usize>) -> Report;

#[test]
fn any_number_of_changes_leaves_a_valid_module_with_the_same_bits() {
    let rules = shipped();
    let cx = context(&rules);
    for (seed, run) in (0..8).flat_map(|seed| [(seed, fold_with as Run), (seed, fuse_with)]) {
        let before = generate::module(seed, 24, DType::F32);
        let mut previous = None;
        for limit in 0.. {
            let mut g = before.clone();
            let mut listener = limited(limit);
            run(&mut g, &cx, &mut listener, None);
            check(&mut g);
            assert_same(&before, &g);
            if listener.made < limit {
                assert_eq!(
                    previous,
                    Some(dump(&g)),
                    "seed {seed}: nothing is left to hold back"
                );
                break;
            }
            assert_ne!(
                previous,
                Some(dump(&g)),
                "seed {seed}: rewrite {limit} changes something"
            );
            previous = Some(dump(&g));
        }
    }
}

#[test]
fn groups_are_held_back_too() {
    let rules = shipped();
    let cx = context(&rules);
    let mut g = module("exp(neg(abs(x:f32[4096])))");
    let before = dump(&g);
    fuse_with(&mut g, &cx, &mut limited(0), None);
    assert_eq!(dump(&g), before);
    let mut listener = limited(1);
    fuse_with(&mut g, &cx, &mut listener, None);
    assert_eq!(listener.chains, ["exp: fusion :0"]);
}

#[test]
fn costs_run_from_one_change_to_the_next() {
    let rules = shipped();
    let mut g = module("abs(abs(neg(x:f32[64]))); sub(x, 0:f32[]); mul(add(2:f32[], 3:f32[]), x)");
    let mut listener = Limited::default();
    let report = fold_with(&mut g, &context(&rules), &mut listener, None);
    assert!(listener.costs.len() > 2);
    for pair in listener.costs.windows(2) {
        assert_eq!(pair[0].1, pair[1].0);
    }
    assert_eq!(listener.costs[0].0, report.cost_before);
    assert_eq!(listener.costs.last().unwrap().1, report.cost_after);
    let saved: i64 = report.rules.iter().map(|rule| rule.saved).sum();
    let folded = listener
        .chains
        .iter()
        .position(|chain| chain == "add: fold-constants :0");
    let folded = listener.costs[folded.expect("a folded sum")];
    let all = (report.cost_before - report.cost_after) as i64;
    assert_eq!(saved, all - (folded.0 - folded.1) as i64);
}

fn rules(text: &str) -> RuleSet {
    RuleSet::load(&registry(), &[("my.rules", text)]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_chain_is_what_led_there_and_no_more() {
    let rules = rules(
        "rule first\n  class exact\n  core.exp(core.neg(?x)) => core.exp(core.abs(?x))\n\
         rule second\n  class exact\n  core.exp(core.abs(?x)) => core.relu(?x)\n\
         rule aside\n  class exact\n  core.exp(?x) => core.exp(core.neg(core.neg(?x)))\n\
         rule zero\n  class exact\n  core.sub(?x, ?x) => like(?x, 0)\n\
         rule plus-zero\n  class exact\n  where is_splat(?z, 0)\n  core.add(?x, ?z) => ?x\n\
         rule back\n  class exact\n  core.tanh(?x) <=> core.log(core.log(?x))\n",
    );
    let mut g = module("exp(neg(x:f32[64])); log(log(x)); add(x, sub(x, x))");
    let mut listener = Limited::default();
    fold_with(&mut g, &context(&rules), &mut listener, None);
    assert_eq!(
        listener.chains,
        [
            "exp: first my.rules:1, second my.rules:4",
            "log: back my.rules:17 back",
            "add: zero my.rules:10, plus-zero my.rules:13"
        ]
    );
}

#[test]
fn a_chain_names_what_made_operands_equal() {
    let rules = rules(
        "rule cancel\n  class exact\n  core.sub(core.add(?x, ?y), ?y) => ?x\n\
         rule square\n  class exact\n  core.mul(?x, ?x) => ?x\n",
    );
    let chains = |text: &str| {
        let mut listener = Limited::default();
        fold_with(&mut module(text), &context(&rules), &mut listener, None);
        listener.chains
    };
    assert_eq!(
        chains("mul(x:f32[64], sub(add(x, y:f32[64]), y))"),
        [
            "sub: cancel my.rules:1",
            "mul: cancel my.rules:1, square my.rules:4"
        ]
    );
    assert_eq!(
        chains("exp(x:f32[64]); exp(sub(add(x, y:f32[64]), y))"),
        ["sub: cancel my.rules:1", "exp: cancel my.rules:1"]
    );
}

#[test]
fn the_step_where_a_match_fails_has_a_reason() {
    let rules = rules(
        "rule r\n  class exact\n  where rank(?x) == 3 and is_float(?x)\n  \
         core.transpose(core.abs(?x)) {permutation=$p} => core.abs(core.transpose(?x) {permutation=$p})\n\
         rule t\n  class nsz\n  core.neg(core.neg(?x)) => ?x\n\
         rule u\n  class exact\n  core.sub(?x, ?x) => ?x\n\
         rule v\n  class exact\n  core.div(?x, ?y) => ?x\n",
    );
    let missed = |rule: &'static str, text: &str| {
        let mut listener = Limited {
            asks: rule,
            ..Limited::default()
        };
        fold_with(&mut module(text), &context(&rules), &mut listener, None);
        listener.missed
    };
    assert_eq!(
        missed("r", "transpose(neg(x:f32[2, 3]))"),
        ["operand `input` of `core.transpose` is `core.neg`, not `core.abs`"]
    );
    assert_eq!(
        missed("r", "transpose(abs(x:f32[2, 3]))"),
        ["`rank(?x) == 3` does not hold: rank(?x) is 2"]
    );
    assert_eq!(
        missed("t", "neg(neg(x:f32[2]))"),
        [
            "operand `input` of `core.neg` is a value from outside, not `core.neg`",
            "its class is `nsz`, which `--fast-math=nsz` allows"
        ]
    );
    assert_eq!(
        missed("u", "sub(x:f32[2], y:f32[2])"),
        ["?x and operand `rhs` of `core.sub` are two values"]
    );
    assert_eq!(
        missed("v", "div(x:f32[], y:f32[2])"),
        ["its result has type f32[], not f32[2]"]
    );
}

#[test]
fn drawings_show_chosen_nodes_and_rules() {
    let rules = shipped();
    let draw = |region| {
        let mut g = module("abs(neg(x:f32[64]))");
        fold_with(&mut g, &context(&rules), &mut NoopListener, region).drawing
    };
    assert!(draw(None).is_none());
    assert!(
        draw(Some(2)).is_none(),
        "there are two rounds of one region"
    );
    let drawing = draw(Some(0)).expect("a drawing");
    let faults = mind_draw::Layout::new(&drawing).faults(&drawing);
    assert_eq!(faults, Vec::<String>::new());
    let dot = mind_draw::dot(&drawing);
    assert!(
        dot.contains(">abs-neg</font>") && dot.contains("penwidth=2"),
        "{dot}"
    );
    let svg = mind_draw::svg(&drawing);
    assert!(
        svg.starts_with("<svg") && svg.contains("class=\"chosen\""),
        "{svg}"
    );
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
    assert_eq!(draw(Some(0)).map(|again| mind_draw::svg(&again)), Some(svg));
}
