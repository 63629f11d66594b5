//! Folding and fusing a module, region by region.

use std::ops::Range;

use mind_diag::{Diagnostic, Severity};
use mind_ir::graph::Graph;
use mind_ir::listener::{Listener, NoopListener, RuleTime};

use crate::context::Context;
use crate::cost::{CostTable, module_price};
use crate::egraph::store::Store;
use crate::explain::draw::drawing;
use crate::explain::missed::{Outcome, report_missed};
use crate::fusion::group::group;
use crate::fusion::record::records;
use crate::load::{Loaded, load};
use crate::memo::{Memo, RegionKey, Solved};
use crate::region::{Program, regions};
use crate::report::{KeptReason, KeptRegion, Report, RuleStats};
use crate::search::RuleIndex;
use crate::solve::{Extraction, Goal, Saturated, solve};
use crate::writeback::changes::ChosenForm;
use crate::writeback::rewrite::rewrite;
use mind_rules::{FastMath, RuleIx};

/// Replaces values of the module by cheaper equal ones. The module must be verified, and stays valid.
pub fn fold(g: &mut Graph, cx: &Context<'_>) -> Report {
    fold_with(g, cx, &mut NoopListener, None)
}

/// Like [`fold`], with a listener that may veto each change and is notified of it. `draw` is the number of the region
/// to draw.
pub fn fold_with(
    g: &mut Graph,
    cx: &Context<'_>,
    listener: &mut dyn Listener,
    draw: Option<usize>,
) -> Report {
    run(g, cx, Goal::Fold, listener, draw)
}

/// Fuses ops of the module where that is cheaper, also through equal forms that fuse better. The module must be
/// verified, and stays valid.
pub fn fuse(g: &mut Graph, cx: &Context<'_>) -> Report {
    fuse_with(g, cx, &mut NoopListener, None)
}

/// Like [`fuse`], with a listener that may veto each change and group and is notified of it. `draw` is the number of
/// the region to draw.
pub fn fuse_with(
    g: &mut Graph,
    cx: &Context<'_>,
    listener: &mut dyn Listener,
    draw: Option<usize>,
) -> Report {
    run(g, cx, Goal::Fuse, listener, draw)
}

/// The most rounds of cutting the module into regions and rewriting each.
const PASSES: usize = 8;

fn run(
    g: &mut Graph,
    cx: &Context<'_>,
    goal: Goal,
    listener: &mut dyn Listener,
    draw: Option<usize>,
) -> Report {
    let costs = CostTable::new(cx.rules.ops(), cx.cost);
    let before = module_price(g, &costs);
    let since = g.op_bound();
    let mut report = Report {
        rules: vec![RuleStats::default(); cx.rules.names().len()],
        cost_before: before.cost,
        bytes_before: before.bytes,
        ..Report::default()
    };
    let is_observed = cx.rules.names().any(|rule| listener.observes_missed(rule));
    let mut shared = Run {
        index: RuleIndex::new(cx.rules, cx.classes, cx.cost.channels),
        memo: (!is_observed).then(Memo::default),
    };
    let mut store = Some(Store::new(cx.rules.ops(), &costs, g));
    let mut settled = 0;
    for pass in 0..PASSES {
        let program = Program::of(g);
        let shifted = pass % 2 == 1;
        let regions = regions(g, &program, cx.rules.ops(), &cx.limits, shifted);
        let several = regions.len() > 1;
        let mut changed = false;
        for range in regions {
            let Some(own) = store.take() else { break };
            listener.visit(g.span(program.ops[range.start]));
            let region = Region {
                program: &program,
                range,
                goal,
                draw: draw == Some(report.regions),
            };
            let (own, region) = optimise(g, cx, &mut shared, region, own, &mut report, listener);
            store = Some(own);
            changed |= region;
        }
        // Grouping is deterministic: it merges nothing new unless something else changed.
        if goal == Goal::Fuse && (changed || pass == 0) {
            changed |= group(g, cx, &costs, &mut report, listener);
        }
        if changed {
            (cx.canonical)(g);
        }
        report.changed |= changed;
        settled = if changed { 0 } else { settled + 1 };
        // A module in one region has no cuts. Fusing ends when both ways of cutting find nothing more. Folding ends
        // when the unshifted one finds nothing more, because another run would begin with it.
        let ended = match goal {
            Goal::Fold => settled > 0 && !(several && shifted),
            Goal::Fuse => settled > usize::from(several),
        };
        if ended {
            break;
        }
    }
    if goal == Goal::Fuse {
        report.fused = records(g, &costs, cx.fused, since);
    }
    let after = module_price(g, &costs);
    (report.cost_after, report.bytes_after) = (after.cost, after.bytes);
    remark(&mut report, cx);
    for (name, rule) in cx.rules.names().zip(&report.rules) {
        if rule.time != RuleTime::default() {
            listener.spent(name, rule.time);
        }
    }
    report
}

/// A region to rewrite.
struct Region<'a> {
    program: &'a Program,
    range: Range<usize>,
    goal: Goal,
    draw: bool,
}

/// The data that the regions of a run share.
struct Run<'r> {
    index: RuleIndex<'r>,
    /// Solutions of earlier regions; `None` if rejected rewrites are reported, which requires every e-graph.
    memo: Option<Memo<'r>>,
}

/// Rewrites one region. Returns the store, and whether the region changed.
fn optimise<'r>(
    g: &mut Graph,
    cx: &Context<'_>,
    run: &mut Run<'r>,
    region: Region<'_>,
    store: Store<'r>,
    report: &mut Report,
    listener: &mut dyn Listener,
) -> (Store<'r>, bool) {
    let Region {
        program,
        range,
        goal,
        draw,
    } = region;
    report.regions += 1;
    let exact = cx.classes == FastMath::EXACT;
    let start = range.start;
    let mut loaded = load(g, program, cx.rules.ops(), range.clone(), store, exact);
    if loaded.ops.is_empty() {
        return (loaded.egraph.analysis.store, false);
    }
    let memo = run.memo.as_mut().filter(|_| !draw);
    let memo = memo.map(|memo| (RegionKey::of(&loaded), memo));
    let kept = |report: &mut Report, solution: &Saturated| {
        let (span, ops) = (g.span(program.ops[start]), range.len());
        let reasons = solution.reasons.iter().cloned();
        report
            .kept
            .extend(reasons.map(|reason| KeptRegion { span, ops, reason }));
    };
    let memo = match memo {
        Some((key, memo)) => match memo.get(&key) {
            Some(solved) => {
                kept(report, &solved.solution);
                return again(g, cx, (program, start), loaded, solved, report, listener);
            }
            None => Some((key, memo)),
        },
        None => None,
    };
    let solution = solve(g, cx, &run.index, goal, &mut loaded, listener);
    kept(report, &solution);
    report.count_search(&solution.stats, true);
    if draw && loaded.egraph.analysis.contradiction.is_none() {
        let mut rules = report.rules.clone();
        let best = Extraction::search(&loaded, cx, &run.index, goal, &mut rules, listener);
        let drawn = drawing(g, cx, &loaded, &best.dense, &best.choice, &best.groups);
        report.drawing = Some(drawn);
    }
    let known = report.changes.len();
    let changed = act(
        g,
        cx,
        (program, start),
        &loaded,
        &solution,
        report,
        listener,
    );
    match memo {
        Some((key, memo)) => (memo.keep(key, loaded, solution), changed),
        None => {
            let changes = &report.changes[known..];
            let outcome = Outcome {
                goal,
                solution: &solution,
                changes,
            };
            report_missed(g, cx, &mut loaded, &outcome, listener);
            (loaded.egraph.analysis.store, changed)
        }
    }
}

/// Applies the solution of an earlier region with the same key to a region whose e-graph is as loaded. Returns the
/// store, and whether the region changed.
fn again<'r>(
    g: &mut Graph,
    cx: &Context<'_>,
    place: (&Program, usize),
    mut loaded: Loaded<'r>,
    solved: &mut Solved<'r>,
    report: &mut Report,
    listener: &mut dyn Listener,
) -> (Store<'r>, bool) {
    report.count_search(&solved.solution.stats, false);
    let Some(egraph) = &mut solved.egraph else {
        return (loaded.egraph.analysis.store, false);
    };
    std::mem::swap(&mut loaded.egraph, egraph);
    std::mem::swap(
        &mut loaded.egraph.analysis.store,
        &mut egraph.analysis.store,
    );
    let changed = act(g, cx, place, &loaded, &solved.solution, report, listener);
    std::mem::swap(&mut loaded.egraph, egraph);
    std::mem::swap(
        &mut loaded.egraph.analysis.store,
        &mut egraph.analysis.store,
    );
    (loaded.egraph.analysis.store, changed)
}

/// Writes the best form of a region into the module; returns whether anything changed.
fn act(
    g: &mut Graph,
    cx: &Context<'_>,
    (program, start): (&Program, usize),
    loaded: &Loaded<'_>,
    solution: &Saturated,
    report: &mut Report,
    listener: &mut dyn Listener,
) -> bool {
    let Some(best) = &solution.best else {
        return false;
    };
    let found = ChosenForm {
        program,
        start,
        loaded,
        dense: &best.dense,
        choice: &best.choice,
        groups: &best.groups,
    };
    rewrite(g, cx, &found, solution.before.cost, report, listener)
}

/// Adds remarks about regions that were kept, or whose search reached a limit.
fn remark(report: &mut Report, cx: &Context<'_>) {
    for kept in &report.kept {
        let ops = kept.ops;
        let message = match &kept.reason {
            KeptReason::Contradiction { rules, values } => {
                report.remarks.push(contradicted(cx, kept, rules, values));
                continue;
            }
            KeptReason::NotCheaper { before, after } => {
                format!(
                    "region of {ops} ops kept: the best form costs {after} ps, this one {before} ps"
                )
            }
            KeptReason::MoreBytes { before, after } => {
                format!(
                    "region of {ops} ops kept: the best form moves {after} bytes, this one {before}"
                )
            }
            KeptReason::Nodes(nodes) => {
                format!("region of {ops} ops not searched to the end: {nodes} e-nodes")
            }
            KeptReason::Matches(rule) => {
                let rule = cx.rules.name(*rule);
                format!("region of {ops} ops not searched to the end: too many matches of `{rule}`")
            }
            KeptReason::Rounds(rounds) => {
                format!("region of {ops} ops not searched to the end: {rounds} rounds of a phase")
            }
        };
        report
            .remarks
            .push(Diagnostic::new(Severity::Remark, kept.span, message));
    }
}

/// Returns the warning about rules that made unequal values equal: one of them is unsound.
fn contradicted(cx: &Context<'_>, kept: &KeptRegion, rules: &[RuleIx], values: &str) -> Diagnostic {
    let names: Vec<String> = rules
        .iter()
        .map(|&rule| format!("`{}`", cx.rules.name(rule)))
        .collect();
    let (names, ops) = (names.join(", "), kept.ops);
    let message = format!("rules in force contradict each other: {names} made {values} one value");
    let help = "one of these rules is unsound: `--disable-rule NAME` turns it off, `--check-rules FILE --draws=1000` looks \
                for a counterexample";
    let warning = Diagnostic::new(Severity::Warning, kept.span, message);
    warning
        .label(format!("the region of {ops} ops from here stays as it was"))
        .help(help)
}
