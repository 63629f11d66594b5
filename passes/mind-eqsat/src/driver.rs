//! Folding and fusing a module, region by region.

use std::ops::Range;

use mind_diag::{Diagnostic, Severity};
use mind_ir::graph::Graph;
use mind_ir::listener::{Listener, RuleTime, Silent};

use crate::changes::{Found, live_values};
use crate::context::Context;
use crate::cost::{CostTable, Price, module_price, op_price};
use crate::draw::picture;
use crate::egraph::store::Store;
use crate::extract::{Choice, Dense, dense_view};
use crate::fast_math::FastMath;
use crate::fusion::body::Group;
use crate::fusion::group::group;
use crate::fusion::propose::propose;
use crate::fusion::record::records;
use crate::load::{Loaded, load};
use crate::missed::tell_missed;
use crate::phases::saturate;
use crate::region::{Program, regions};
use crate::report::{Kept, KeptReason, Report, RuleStats};
use crate::rewrite::rewrite;
use crate::search::RuleIndex;

/// Replaces values of the module by cheaper equal ones. The module is verified, and stays so.
pub fn fold(g: &mut Graph, cx: &Context<'_>) -> Report {
    fold_with(g, cx, &mut Silent, None)
}

/// As [`fold`], with a listener that admits each change and hears of it; `draw` is the number of the
/// region to draw.
pub fn fold_with(
    g: &mut Graph,
    cx: &Context<'_>,
    listener: &mut dyn Listener,
    draw: Option<usize>,
) -> Report {
    run(g, cx, Goal::Fold, listener, draw)
}

/// Gathers ops of the module into fused ones where that is cheaper, also through equal forms that fuse
/// better. The module is verified, and stays so.
pub fn fuse(g: &mut Graph, cx: &Context<'_>) -> Report {
    fuse_with(g, cx, &mut Silent, None)
}

/// As [`fuse`], with a listener that admits each change and group, and hears of it; `draw` is the
/// number of the region to draw.
pub fn fuse_with(
    g: &mut Graph,
    cx: &Context<'_>,
    listener: &mut dyn Listener,
    draw: Option<usize>,
) -> Report {
    run(g, cx, Goal::Fuse, listener, draw)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Fold,
    Fuse,
}

/// How often the module is cut into regions, and these are looked at.
fn passes(goal: Goal) -> usize {
    match goal {
        Goal::Fold => 2,
        Goal::Fuse => 8,
    }
}

fn run(
    g: &mut Graph,
    cx: &Context<'_>,
    goal: Goal,
    listener: &mut dyn Listener,
    draw: Option<usize>,
) -> Report {
    let costs = CostTable::new(&cx.rules.ops, cx.cost);
    let before = module_price(g, &costs);
    let since = g.op_bound();
    let mut report = Report {
        rules: vec![RuleStats::default(); cx.rules.names().len()],
        cost_before: before.cost,
        bytes_before: before.bytes,
        ..Report::default()
    };
    let index = RuleIndex::new(cx.rules, cx.classes);
    let mut store = Some(Store::new(&cx.rules.ops, &costs, g));
    let mut settled = 0;
    for pass in 0..passes(goal) {
        let program = Program::of(g);
        let shifted = pass % 2 == 1;
        let regions = regions(g, &program, &cx.rules.ops, &cx.limits, shifted);
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
            let (own, region) = optimise(g, cx, &index, region, own, &mut report, listener);
            store = Some(own);
            changed |= region;
        }
        // What grouping left apart stays so while nothing else changes.
        if goal == Goal::Fuse && (changed || pass == 0) {
            changed |= group(g, cx, &costs, &mut report, listener);
        }
        report.changed |= changed;
        settled = if changed { 0 } else { settled + 1 };
        // Both ways of cutting are to find nothing more; a module in one region has no cuts.
        if settled > usize::from(several && goal == Goal::Fuse) || (goal == Goal::Fold && !several)
        {
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

/// Rewrites one region; gives the tables back, and whether it changed.
fn optimise<'r>(
    g: &mut Graph,
    cx: &Context<'_>,
    index: &RuleIndex<'_>,
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
    let span = g.span(program.ops[range.start]);
    let ops = range.len();
    let exact = cx.classes == FastMath::EXACT;
    let mut loaded = load(g, program, &cx.rules.ops, range.clone(), store, exact);
    if loaded.ops.is_empty() {
        return (loaded.egraph.analysis.store, false);
    }
    let reasons = saturate(&mut loaded, index, &cx.limits, &mut report.rules, listener);
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
    if draw {
        let mut rules = report.rules.clone();
        let best = Best::search(&loaded, cx, index, goal, &mut rules, listener);
        let drawing = picture(g, cx, &loaded, &best.dense, &best.choice, &best.groups);
        report.drawing = Some(drawing);
    }
    let before = region_price(g, &loaded);
    let best = match Best::find(
        &loaded,
        cx,
        index,
        goal,
        before,
        &mut report.rules,
        listener,
    ) {
        Ok(best) => best,
        Err(reason) => {
            report.kept.push(Kept { span, ops, reason });
            None
        }
    };
    let Some(best) = best else {
        tell_missed(g, cx, &mut loaded, &[], listener);
        return (loaded.egraph.analysis.store, false);
    };
    let found = Found {
        program,
        start: range.start,
        loaded: &loaded,
        dense: &best.dense,
        choice: &best.choice,
        groups: &best.groups,
    };
    let known = report.changes.len();
    let changed = rewrite(g, cx, &found, before.cost, report, listener);
    tell_missed(g, cx, &mut loaded, &report.changes[known..], listener);
    (loaded.egraph.analysis.store, changed)
}

/// The best form of a region.
struct Best {
    dense: Dense,
    choice: Choice,
    groups: Vec<Group>,
}

impl Best {
    /// The best form found where it is cheaper than the region is, `before`; for fusing one that moves no
    /// more bytes, if need be without groups.
    ///
    /// Errors: why the region stays as it is though there are other forms.
    fn find(
        loaded: &Loaded<'_>,
        cx: &Context<'_>,
        index: &RuleIndex<'_>,
        goal: Goal,
        before: Price,
        stats: &mut [RuleStats],
        listener: &dyn Listener,
    ) -> Result<Option<Best>, KeptReason> {
        let best = Best::search(loaded, cx, index, goal, stats, listener);
        let after = best.price();
        if after.cost > before.cost {
            let (before, after) = (before.cost, after.cost);
            return Err(KeptReason::NotCheaper { before, after });
        }
        let cheaper = |after: Price| after.cost < before.cost;
        if goal == Goal::Fold || !cheaper(after) || after.bytes <= before.bytes {
            return Ok(cheaper(after).then_some(best));
        }
        let plain = Best::of(loaded, dense_view(loaded), Vec::new());
        match cheaper(plain.price()) && plain.price().bytes <= before.bytes {
            true => Ok(Some(plain)),
            false => {
                let (before, after) = (before.bytes, after.bytes);
                Err(KeptReason::MoreBytes { before, after })
            }
        }
    }

    /// The cheapest form found.
    fn search(
        loaded: &Loaded<'_>,
        cx: &Context<'_>,
        index: &RuleIndex<'_>,
        goal: Goal,
        stats: &mut [RuleStats],
        listener: &dyn Listener,
    ) -> Best {
        let mut dense = dense_view(loaded);
        let groups = match goal {
            Goal::Fold => Vec::new(),
            Goal::Fuse => propose(loaded, &mut dense, cx, index, stats, listener),
        };
        Best::of(loaded, dense, groups)
    }

    fn of(loaded: &Loaded<'_>, dense: Dense, groups: Vec<Group>) -> Best {
        Best {
            choice: Choice::best(&dense, loaded),
            dense,
            groups,
        }
    }

    fn price(&self) -> Price {
        Price {
            cost: self.choice.cost,
            bytes: self.choice.bytes(&self.dense),
        }
    }
}

/// The price of the region's ops that its results need.
fn region_price(g: &Graph, loaded: &Loaded<'_>) -> Price {
    let costs = loaded.egraph.analysis.store.costs;
    let live = live_values(g, loaded);
    let needed = loaded.ops.iter().filter(|own| live.contains(&own.result));
    needed.fold(Price::default(), |price, own| {
        price.plus(op_price(g, costs, own.op))
    })
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
            KeptReason::MoreBytes { before, after } => {
                format!(
                    "region of {ops} ops kept: the best form moves {after} bytes, this one {before}"
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
