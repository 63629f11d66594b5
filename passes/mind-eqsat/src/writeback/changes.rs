//! Which changes of a choice are made, in which order, and what each saves.
//!
//! A change is one value of the program that something else computes from then on. Any subset of the
//! changes that a choice implies leaves a valid module: every class keeps a value at the place where the
//! program first computes it, or earlier, so what reads it finds it in either form.

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::listener::{CostChange, Listener, Step};
use rustc_hash::FxHashSet;

use crate::context::Context;
use crate::cost::op_price;
use crate::explain::lineage::Lineage;
use crate::extract::{Choice, ClassIx, Dense};
use crate::fusion::body::Group;
use crate::load::Loaded;
use crate::region::Program;
use crate::report::{Cause, RuleStep};
use crate::writeback::placement::inlined;
use mind_rules::FastMath;
use mind_rules::RuleSet;
use mind_rules::{FOLDING, FUSION};

/// A region and what it is to become.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a, 'r> {
    pub(crate) program: &'a Program,
    /// The position of the region's first op in the program.
    pub(crate) start: usize,
    pub(crate) loaded: &'a Loaded<'r>,
    pub(crate) dense: &'a Dense,
    pub(crate) choice: &'a Choice,
    pub(crate) groups: &'a [Group],
}

/// The changes to make in a region.
pub(crate) struct Plan {
    /// In program order.
    pub(crate) changes: Vec<PlannedChange>,
    /// The classes that are computed anew.
    pub(crate) emitted: Vec<bool>,
}

/// A value of the program that something else is to compute.
pub(crate) struct PlannedChange {
    /// The op that computes it: an index into the region's ops.
    pub(crate) at: usize,
    pub(crate) class: ClassIx,
    /// The classes that are computed anew for it, constants aside.
    pub(crate) made: Vec<ClassIx>,
    /// What led there, in order.
    pub(crate) steps: Vec<RuleStep>,
    /// The cost of the region.
    pub(crate) cost: CostChange,
}

/// The changes that `found` implies and `listener` admits, in program order. `cost` is that of the region
/// as it is.
pub(crate) fn plan(
    g: &Graph,
    cx: &Context<'_>,
    found: &Found<'_, '_>,
    cost: u64,
    listener: &mut dyn Listener,
) -> Plan {
    let Found {
        loaded,
        dense,
        choice,
        groups,
        ..
    } = *found;
    let lineage = Lineage::new(loaded, dense, choice, groups);
    let live = live_values(g, loaded);
    let mut now = Choice::unchanged(dense, choice);
    let mut plan = Plan {
        changes: Vec::new(),
        emitted: vec![false; dense.classes.len()],
    };
    let mut cost = cost;
    for (at, own) in loaded.ops.iter().enumerate() {
        let class = dense.class_of(own.class);
        let Some(chosen) = choice.node(class).filter(|_| choice.needs(class)) else {
            continue;
        };
        let first = dense.class(class).program == Some(at as u32);
        let given = choice.is_given(dense, class);
        let same = first && dense.program[at] == Some(chosen);
        if same || !live.contains(&own.result) && (given || !first) {
            continue;
        }
        let steps = lineage.steps(g, at);
        if !listener.admit(&names(cx, &steps)) {
            continue;
        }
        let after = match first && dense.program[at].is_some() {
            true => {
                let (added, released) = now.switch(dense, class, chosen);
                cost.saturating_add(added).saturating_sub(released)
            }
            false => {
                cost.saturating_sub(op_price(g, loaded.egraph.analysis.store.costs, own.op).cost)
            }
        };
        let made = if first || given {
            emit(found, class, &mut plan.emitted)
        } else {
            Vec::new()
        };
        plan.changes.push(PlannedChange {
            at,
            class,
            made,
            steps,
            cost: CostChange {
                before: cost,
                after,
            },
        });
        cost = after;
    }
    plan
}

/// The values of the program that something outside the region depends on.
pub(crate) fn live_values(g: &Graph, loaded: &Loaded<'_>) -> FxHashSet<ValueId> {
    let mut live: FxHashSet<ValueId> = loaded.roots.iter().copied().collect();
    for own in loaded.ops.iter().rev() {
        if live.contains(&own.result) {
            live.extend(g.operands(own.op));
        }
    }
    live
}

/// The names of the rules of these steps.
fn names<'a>(cx: &Context<'a>, steps: &[RuleStep]) -> Vec<&'a str> {
    let name = |step: &RuleStep| match step.cause {
        Cause::Rule(rule) => cx.rules.name(rule),
        Cause::Folding => FOLDING,
        Cause::Fusion => FUSION,
    };
    steps.iter().map(name).collect()
}

/// The words of a step's class: `exact`, `nsz,nnan`.
pub(crate) fn class_text(rules: &RuleSet, step: RuleStep) -> String {
    let class = step
        .cause
        .rule()
        .map_or(FastMath::EXACT, |rule| rules.rule(rule).class);
    class.names().join(",")
}

/// A step with its names, for a listener.
pub(crate) fn resolve<'a>(rules: &'a RuleSet, step: RuleStep, class: &'a str) -> Step<'a> {
    let rule = match step.cause {
        Cause::Rule(rule) => rule,
        Cause::Folding => return Step::built_in(FOLDING, step.span),
        Cause::Fusion => return Step::built_in(FUSION, step.span),
    };
    let info = rules.rule(rule);
    Step {
        rule: &info.name,
        place: Some((&info.file, info.line)),
        class,
        reversed: step.reversed,
        span: step.span,
    }
}

/// Marks `class` and what is computed anew for it; gives what was not marked before, constants aside.
fn emit(found: &Found<'_, '_>, class: ClassIx, emitted: &mut [bool]) -> Vec<ClassIx> {
    let Found {
        loaded,
        dense,
        choice,
        ..
    } = *found;
    let mut made = Vec::new();
    let mut work = vec![class];
    while let Some(class) = work.pop() {
        if std::mem::replace(&mut emitted[class as usize], true) {
            continue;
        }
        if !choice.is_given(dense, class) {
            made.push(class);
        }
        let Some(node) = choice.node(class) else {
            continue;
        };
        let node = dense.node(node);
        let children = node.children.iter();
        let read = children.zip(inlined(loaded, dense, choice, node));
        let read = read
            .filter(|(_, inlined)| !inlined)
            .map(|(&child, _)| child);
        let anew = |&child: &ClassIx| {
            dense.class(child).program.is_none() || choice.is_given(dense, child)
        };
        work.extend(read.filter(anew));
    }
    made
}
