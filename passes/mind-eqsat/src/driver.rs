//! Folding and fusing a module, region by region.

use std::ops::Range;

use mind_diag::{Diagnostic, Severity};
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use rustc_hash::FxHashSet;

use crate::context::Context;
use crate::cost::{CostTable, module_cost, op_cost};
use crate::egraph::store::Store;
use crate::extract::{Choice, dense_view};
use crate::fast_math::FastMath;
use crate::fusion::group::group;
use crate::fusion::propose::propose;
use crate::load::{Loaded, load};
use crate::phases::saturate;
use crate::region::{Program, regions};
use crate::report::{Kept, KeptReason, Report, RuleStats};
use crate::rewrite::{Found, rewrite};

/// Replaces values of the module by cheaper equal ones. The module is verified, and stays so.
pub fn fold(g: &mut Graph, cx: &Context<'_>) -> Report {
    run(g, cx, Goal::Fold)
}

/// Gathers ops of the module into fused ones where that is cheaper, also through equal forms that fuse
/// better. The module is verified, and stays so.
pub fn fuse(g: &mut Graph, cx: &Context<'_>) -> Report {
    run(g, cx, Goal::Fuse)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Fold,
    Fuse,
}

fn run(g: &mut Graph, cx: &Context<'_>, goal: Goal) -> Report {
    let costs = CostTable::new(&cx.rules.ops, cx.cost);
    let mut report = Report {
        rules: vec![RuleStats::default(); cx.rules.names().len()],
        cost_before: module_cost(g, &costs),
        ..Report::default()
    };
    let mut store = Some(Store::new(&cx.rules.ops, &costs, g));
    for shifted in [false, true] {
        let program = Program::of(g);
        let regions = regions(g, &program, &cx.rules.ops, &cx.limits, shifted);
        let several = regions.len() > 1;
        let mut changed = false;
        for range in regions {
            let Some(own) = store.take() else { break };
            let (own, region) = optimise(g, cx, &program, range, own, goal, &mut report);
            store = Some(own);
            changed |= region;
        }
        report.changed |= changed;
        if !changed || !several {
            break;
        }
    }
    if goal == Goal::Fuse {
        report.changed |= group(g, cx, &costs, &mut report);
    }
    report.cost_after = module_cost(g, &costs);
    remark(&mut report, cx);
    report
}

/// Rewrites one region; gives the tables back, and whether it changed.
fn optimise<'r>(
    g: &mut Graph,
    cx: &Context<'_>,
    program: &Program,
    range: Range<usize>,
    store: Store<'r>,
    goal: Goal,
    report: &mut Report,
) -> (Store<'r>, bool) {
    report.regions += 1;
    let span = g.span(program.ops[range.start]);
    let ops = range.len();
    let exact = cx.classes == FastMath::EXACT;
    let mut loaded = load(g, program, &cx.rules.ops, range.clone(), store, exact);
    if loaded.ops.is_empty() {
        return (loaded.egraph.analysis.store, false);
    }
    let reasons = saturate(
        &mut loaded,
        cx.rules,
        cx.classes,
        &cx.limits,
        &mut report.rules,
    );
    report
        .kept
        .extend(reasons.into_iter().map(|reason| Kept { span, ops, reason }));
    if loaded.egraph.analysis.contradiction {
        report.kept.push(Kept {
            span,
            ops,
            reason: KeptReason::Contradiction,
        });
        return (loaded.egraph.analysis.store, false);
    }
    let mut dense = dense_view(&loaded);
    let groups = match goal {
        Goal::Fold => Vec::new(),
        Goal::Fuse => propose(&loaded, &mut dense, cx, &mut report.rules),
    };
    let choice = Choice::best(&dense, &loaded);
    let before = region_cost(g, &loaded);
    if choice.cost >= before {
        if choice.cost > before {
            let reason = KeptReason::NotCheaper {
                before,
                after: choice.cost,
            };
            report.kept.push(Kept { span, ops, reason });
        }
        return (loaded.egraph.analysis.store, false);
    }
    let found = Found {
        program,
        start: range.start,
        loaded: &loaded,
        dense: &dense,
        choice: &choice,
        groups: &groups,
    };
    rewrite(g, cx, &found, report);
    (loaded.egraph.analysis.store, true)
}

/// The cost of the region's ops that its results need.
fn region_cost(g: &Graph, loaded: &Loaded<'_>) -> u64 {
    let costs = loaded.egraph.analysis.store.costs;
    let mut needed: FxHashSet<ValueId> = loaded.roots.iter().copied().collect();
    let mut cost = 0u64;
    for own in loaded.ops.iter().rev() {
        if needed.contains(&own.result) {
            cost = cost.saturating_add(op_cost(g, costs, own.op));
            needed.extend(g.operands(own.op));
        }
    }
    cost
}

fn remark(report: &mut Report, cx: &Context<'_>) {
    for kept in &report.kept {
        let ops = kept.ops;
        let message = match &kept.reason {
            KeptReason::NotCheaper { before, after } => {
                format!(
                    "region of {ops} ops kept: the best form costs {after} ps, this one {before} ps"
                )
            }
            KeptReason::Contradiction => {
                format!("region of {ops} ops kept: rules made unequal values equal")
            }
            KeptReason::Nodes(nodes) => {
                format!("region of {ops} ops not searched to the end: {nodes} e-nodes")
            }
            KeptReason::Matches(rule) => {
                let rule = cx.rules.name(*rule);
                format!("region of {ops} ops not searched to the end: too many matches of `{rule}`")
            }
        };
        report
            .remarks
            .push(Diagnostic::new(Severity::Remark, kept.span, message));
    }
}
