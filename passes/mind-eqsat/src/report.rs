//! What a run did.

use std::fmt;

use mind_diag::{Diagnostics, Span};
use mind_ir::listener::{CostChange, RuleTime};
use mind_rules::RuleIx;

/// How often a rule matched and what came of it. What is found again in a later round counts again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RuleStats {
    /// Matches whose condition held.
    pub matched: usize,
    /// Matches that made two classes one.
    pub applied: usize,
    /// Matches whose right side has no type or another one.
    pub refused: usize,
    /// Changes of the result that it led to.
    pub chosen: usize,
    /// What the changes saved that it led to as the last one, in picoseconds.
    pub saved: i64,
    /// How long it took, where rules are timed.
    pub time: RuleTime,
}

/// A value that another op now computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The place of the op that computed it.
    pub span: Span,
    /// The name of that op.
    pub from: &'static str,
    /// What computes it now: an op's name, or the value with this label.
    pub to: Replacement,
    /// What led there, in order; empty where only equal operands made it equal.
    pub rules: Vec<RuleStep>,
    /// The cost of the region before and after, changes being made one after the other.
    pub cost: CostChange,
}

/// What led to a change, or to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A rule.
    Rule(RuleIx),
    /// Folding constants.
    Folding,
    /// Grouping that no rule asked for, because it costs less.
    Fusion,
}

impl Cause {
    /// The rule, where it is one.
    pub fn rule(self) -> Option<RuleIx> {
        match self {
            Cause::Rule(rule) => Some(rule),
            Cause::Folding | Cause::Fusion => None,
        }
    }
}

/// A step on the way to a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleStep {
    /// What was done.
    pub cause: Cause,
    /// Whether it was read from right to left.
    pub reversed: bool,
    /// The place of the op at which it matched.
    pub span: Span,
}

/// What a value was replaced with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// A new op of this name.
    Op(&'static str),
    /// A value that was there, by its label.
    Value(u64),
    /// A constant.
    Constant,
    /// A fused op of this kind.
    Fused(&'static str),
}

impl Report {
    /// Counts what rules did in the search over a region; their time where it was spent.
    pub(crate) fn count_search(&mut self, stats: &[RuleStats], timed: bool) {
        for (all, own) in self.rules.iter_mut().zip(stats) {
            all.matched += own.matched;
            all.applied += own.applied;
            all.refused += own.refused;
            if timed {
                all.time.matching += own.time.matching;
                all.time.applying += own.time.applying;
            }
        }
    }

    /// Counts a change for the rules that led to it.
    pub(crate) fn count_change(&mut self, steps: &[RuleStep], cost: CostChange) {
        let rules: Vec<RuleIx> = steps.iter().filter_map(|step| step.cause.rule()).collect();
        for (at, rule) in rules.iter().enumerate() {
            if !rules[..at].contains(rule) {
                self.rules[rule.index()].chosen += 1;
            }
        }
        if let Some(last) = rules.last() {
            let saved = i128::from(cost.before) - i128::from(cost.after);
            let own = &mut self.rules[last.index()].saved;
            *own = own.saturating_add(saved.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
        }
    }
}

/// A region that stayed as it was, or was not searched to the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The place of the region's first op.
    pub span: Span,
    /// How many ops it has.
    pub ops: usize,
    /// Why.
    pub reason: KeptReason,
}

/// Why a region stayed as it was, or was not searched to the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeptReason {
    /// The best form found costs this much, in picoseconds, where the input costs no more.
    NotCheaper {
        /// The cost of the region as it is.
        before: u64,
        /// The cost of the best form found.
        after: u64,
    },
    /// The best form found moves this many bytes, the input fewer.
    MoreBytes {
        /// The bytes that the region moves as it is.
        before: u64,
        /// The bytes that the best form found moves.
        after: u64,
    },
    /// Two classes with different types or constants became one: a rule in force is unsound.
    Contradiction {
        /// The rules that led from the one to the other.
        rules: Vec<RuleIx>,
        /// The types or constants, in words.
        values: String,
    },
    /// The e-graph reached its limit of e-nodes; what was found until then counts.
    Nodes(usize),
    /// A rule reached its limit of matches; the others went on.
    Matches(RuleIx),
    /// A phase reached its limit of rounds while rules still acted.
    Rounds(usize),
}

/// A group of ops that now run as one. Before is each of its ops by itself, after is the group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FusedGroup {
    /// The place of the op before which it stands.
    pub span: Span,
    /// What the group is called.
    pub kind: String,
    /// How many ops it has, constants not counted.
    pub ops: usize,
    /// How many values it gives to others.
    pub results: usize,
    /// Its ops in order.
    pub members: Vec<FusedMember>,
    /// How many kernels less run.
    pub launches_saved: usize,
    /// What its ops cost one by one, in picoseconds.
    pub cost_before: u64,
    /// What the group costs, in picoseconds.
    pub cost_after: u64,
    /// The bytes that its ops move one by one.
    pub bytes_before: u64,
    /// The bytes that the group moves.
    pub bytes_after: u64,
}

/// An op of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FusedMember {
    /// Its name.
    pub op: &'static str,
    /// Where it stood.
    pub span: Span,
}

/// An op that does not run together with one that reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissedFusion {
    /// The place of the op that is read.
    pub producer: Span,
    /// The place of the op that reads it.
    pub consumer: Span,
    /// Why.
    pub reason: MissedReason,
}

/// Why groups stay apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MissedReason {
    /// Together they have more ops than this.
    Ops(usize),
    /// Together they read more values than this.
    Operands(usize),
    /// Something between them reads the one and is read by the other.
    Cycle,
    /// No loop nest runs both.
    Form(&'static str),
    /// A reduction of weights and constants alone is computed once, the other in every run.
    Settled,
    /// Together they are not cheaper, or move more bytes.
    Cost {
        /// The cost of both apart, in picoseconds.
        apart: u64,
        /// The cost of both together.
        fused: u64,
    },
}

impl fmt::Display for MissedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissedReason::Ops(most) => write!(f, "a group has at most {most} ops"),
            MissedReason::Operands(most) => write!(f, "a group reads at most {most} values"),
            MissedReason::Cycle => {
                f.write_str("an op between them reads the one and is read by the other")
            }
            MissedReason::Form(clash) => f.write_str(clash),
            MissedReason::Settled => {
                f.write_str("a reduction of weights is computed once, not in every run")
            }
            MissedReason::Cost { apart, fused } => {
                write!(f, "together they cost {fused} ps, apart {apart} ps")
            }
        }
    }
}

/// What a run did. Costs are in picoseconds, by the cost model alone.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Whether the module changed.
    pub changed: bool,
    /// The cost of the module before.
    pub cost_before: u64,
    /// The cost of the module after; never more than before.
    pub cost_after: u64,
    /// The bytes that the module moves before: what every kernel reads and writes, each value once.
    pub bytes_before: u64,
    /// The bytes that the module moves after; after fusing never more than before.
    pub bytes_after: u64,
    /// How many regions were looked at, those of a second pass included.
    pub regions: usize,
    /// One entry per rule of the set.
    pub rules: Vec<RuleStats>,
    /// Every value that another op now computes, in program order.
    pub changes: Vec<Change>,
    /// Every group made, in program order.
    pub fused: Vec<FusedGroup>,
    /// Every op that could not join one that reads it, in program order.
    pub missed: Vec<MissedFusion>,
    /// Regions that stayed as they were, or were not searched to the end.
    pub kept: Vec<Kept>,
    /// The drawing of the region that was asked for.
    pub drawing: Option<mind_draw::Drawing>,
    /// The same and more, for people.
    pub remarks: Diagnostics,
}
