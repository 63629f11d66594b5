//! Regions with the same contents, which are searched once.

use mind_eqsat::{Context, Limits, Report, fold_with, fuse_with};
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::listener::{Listener, NoopListener};
use mind_ir::types::DType;

use crate::generate;
use crate::support::{Module, assert_same, check, context, dump, shipped};

/// A listener that asks for the missed matches of every rule, so that every region is searched.
struct Curious;

impl Listener for Curious {
    fn observes_missed(&self, _: &str) -> bool {
        true
    }
}

/// Returns a module of equal layers, each with ops to simplify and to fuse.
fn layers(count: usize) -> Graph {
    let mut m = Module::new();
    let [mut x, y] = [m.f32(&[4, 4]), m.f32(&[4, 4])];
    let one = m.splat(DType::F32, &[4, 4], 1.0);
    for _ in 0..count {
        let scaled = m.op("mul", &[x, one]);
        let flipped = m.op("neg", &[scaled]);
        let size = m.op("abs", &[flipped]);
        let product = m.op("matmul", &[size, y]);
        let sum = m.op("add", &[product, scaled]);
        let twice: ValueId = m.op("neg", &[sum]);
        let back = m.op("neg", &[twice]);
        x = m.op("relu", &[back]);
    }
    m.outputs(&[x])
}

type Goal = fn(&mut Graph, &Context<'_>, &mut dyn Listener, Option<usize>) -> Report;

/// Runs `goal` over small regions, once with solutions reused between regions and once without.
fn both_ways(before: &Graph, goal: Goal) -> [(Graph, Report); 2] {
    let rules = shipped();
    let cx = Context {
        limits: Limits {
            region_least: 10,
            region_most: 24,
            ..Limits::default()
        },
        ..context(&rules)
    };
    let (mut known, mut anew) = (before.clone(), before.clone());
    let first = goal(&mut known, &cx, &mut NoopListener, None);
    let second = goal(&mut anew, &cx, &mut Curious, None);
    check(&mut known);
    [(known, first), (anew, second)]
}

#[test]
fn what_was_found_for_one_layer_is_done_to_all() {
    for goal in [fold_with, fuse_with] {
        let before = layers(40);
        let [(known, first), (anew, second)] = both_ways(&before, goal);
        assert_same(&before, &known);
        assert_eq!(dump(&known), dump(&anew));
        assert_eq!(first.changes, second.changes);
        assert_eq!(first.cost_after, second.cost_after);
        let counts = |report: &Report| -> Vec<_> {
            let rules = report.rules.iter();
            rules
                .map(|rule| (rule.matched, rule.applied, rule.chosen, rule.saved))
                .collect()
        };
        assert_eq!(counts(&first), counts(&second));
    }
}

#[test]
fn drawn_modules_become_the_same_either_way() {
    for seed in 0..20 {
        let before = generate::module(seed, 60, DType::F32);
        for goal in [fold_with, fuse_with] {
            let [(known, _), (anew, _)] = both_ways(&before, goal);
            assert_eq!(dump(&known), dump(&anew), "seed {seed}");
        }
    }
}
