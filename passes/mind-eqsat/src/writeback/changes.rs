//! Plans the changes of a choice: which are made, in which order, and the cost that each saves.
//!
//! A change makes another op compute a value of the program. Any subset of the changes of a choice leaves a valid
//! module, because every class keeps a value at or before the position where the program first computes it, which
//! dominates the readers in either form.

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

/// A region and the form chosen for it.
#[derive(Clone, Copy)]
pub(crate) struct ChosenForm<'a, 'r> {
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
    /// The changes in program order.
    pub(crate) changes: Vec<PlannedChange>,
    /// The classes for which new ops are emitted.
    pub(crate) emitted: Vec<bool>,
}

/// A value of the program that another op will compute.
pub(crate) struct PlannedChange {
    /// The index of the op that computes it, in the region's ops.
    pub(crate) at: usize,
    pub(crate) class: ClassIx,
    /// The classes for which it emits new ops, without constants.
    pub(crate) made: Vec<ClassIx>,
    /// The steps that led to it, in order.
    pub(crate) steps: Vec<RuleStep>,
    /// The cost of the region before and after.
    pub(crate) cost: CostChange,
}

/// Returns the changes of `found` that `listener` admits, in program order. `cost` is that of the region as it is.
pub(crate) fn plan(
    g: &Graph,
    cx: &Context<'_>,
    found: &ChosenForm<'_, '_>,
    cost: u64,
    listener: &mut dyn Listener,
) -> Plan {
    let ChosenForm {
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

/// Returns the values of the region on which something outside of it depends.
pub(crate) fn live_values(g: &Graph, loaded: &Loaded<'_>) -> FxHashSet<ValueId> {
    let mut live: FxHashSet<ValueId> = loaded.roots.iter().copied().collect();
    for own in loaded.ops.iter().rev() {
        if live.contains(&own.result) {
            live.extend(g.operands(own.op));
        }
    }
    live
}

/// Returns the names of the rules of these steps.
fn names<'a>(cx: &Context<'a>, steps: &[RuleStep]) -> Vec<&'a str> {
    let name = |step: &RuleStep| match step.cause {
        Cause::Rule(rule) => cx.rules.name(rule),
        Cause::Folding => FOLDING,
        Cause::Fusion => FUSION,
    };
    steps.iter().map(name).collect()
}

/// Returns the fast-math class of a step as text, for example `exact` or `nsz,nnan`.
pub(crate) fn class_text(rules: &RuleSet, step: RuleStep) -> String {
    let class = step
        .cause
        .rule()
        .map_or(FastMath::EXACT, |rule| rules.rule(rule).class);
    class.names().join(",")
}

/// Returns a step with its names, for a listener.
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

/// Marks `class` and the classes that must be emitted for it. Returns the newly marked ones, without constants and
/// leaves.
fn emit(found: &ChosenForm<'_, '_>, class: ClassIx, emitted: &mut [bool]) -> Vec<ClassIx> {
    let ChosenForm {
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
