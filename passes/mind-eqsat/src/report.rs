//! The report of a run.

use std::fmt;

use mind_diag::{Diagnostics, Span};
use mind_ir::listener::{CostChange, RuleTime};
use mind_rules::RuleIx;

/// Statistics of a rule. A match that is found in several rounds counts several times.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RuleStats {
    /// Matches whose condition held.
    pub matched: usize,
    /// Matches that united two classes.
    pub applied: usize,
    /// Matches that were refused, because the right side has no type or another one.
    pub refused: usize,
    /// Changes of the module that it contributed to.
    pub chosen: usize,
    /// The cost saved by changes in which it was the last step, in picoseconds.
    pub saved: i64,
    /// The time spent on it, if rules are timed.
    pub time: RuleTime,
}

/// A value that is computed by another op now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The location of the op that computed it.
    pub span: Span,
    /// The name of that op.
    pub from: &'static str,
    /// Its replacement.
    pub to: Replacement,
    /// The steps that led to the change, in order; empty if equal operands alone made it equal.
    pub rules: Vec<RuleStep>,
    /// The cost of the region before and after this change. Changes are made one after the other.
    pub cost: CostChange,
}

/// The cause of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A rule.
    Rule(RuleIx),
    /// Constant folding.
    Folding,
    /// Grouping by cost, without a rule.
    Fusion,
}

impl Cause {
    /// Returns the rule, if it is one.
    pub fn rule(self) -> Option<RuleIx> {
        match self {
            Cause::Rule(rule) => Some(rule),
            Cause::Folding | Cause::Fusion => None,
        }
    }
}

/// A step towards a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleStep {
    /// Its cause.
    pub cause: Cause,
    /// Whether the rule was applied from right to left.
    pub reversed: bool,
    /// The location of the op at which it matched.
    pub span: Span,
}

/// The replacement of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// A new op of this name.
    Op(&'static str),
    /// An existing value, by its label.
    Value(u64),
    /// A constant.
    Constant,
    /// A fused op of this kind.
    Fused(&'static str),
}

impl Report {
    /// Adds the statistics of the search over a region; the times only if `timed`.
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

/// A region that was kept, or whose search reached a limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptRegion {
    /// The location of the region's first op.
    pub span: Span,
    /// The number of its ops.
    pub ops: usize,
    /// The reason.
    pub reason: KeptReason,
}

/// The reason why a region was kept, or its search was cut short.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeptReason {
    /// The best form found costs more than the input, in picoseconds.
    NotCheaper {
        /// The cost of the input.
        before: u64,
        /// The cost of the best form found.
        after: u64,
    },
    /// The best form found moves more bytes than the input.
    MoreBytes {
        /// The bytes that the input moves.
        before: u64,
        /// The bytes that the best form found moves.
        after: u64,
    },
    /// Two classes with different types or constants were united: one of the rules is unsound.
    Contradiction {
        /// The rules that united them.
        rules: Vec<RuleIx>,
        /// Both types or constants, as text.
        values: String,
    },
    /// The e-graph reached the limit of e-nodes. The results up to then are used.
    Nodes(usize),
    /// A rule reached the limit of matches. Other rules were not affected.
    Matches(RuleIx),
    /// A phase reached the limit of rounds before a fixed point.
    Rounds(usize),
}

/// A fused group. "Before" values are for its ops one by one, "after" values for the group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FusedGroup {
    /// The location of the op before which it was inserted.
    pub span: Span,
    /// The kind of the group.
    pub kind: String,
    /// The number of its ops without constants.
    pub ops: usize,
    /// The number of its results.
    pub results: usize,
    /// Its ops in order.
    pub members: Vec<FusedMember>,
    /// The number of kernel launches that it saves.
    pub launches_saved: usize,
    /// The cost of its ops one by one, in picoseconds.
    pub cost_before: u64,
    /// The cost of the group, in picoseconds.
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
    /// Its location.
    pub span: Span,
}

/// An op that was not fused with a reader of its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissedFusion {
    /// The location of the op that is read.
    pub producer: Span,
    /// The location of the op that reads it.
    pub consumer: Span,
    /// The reason.
    pub reason: MissedReason,
}

/// The reason why two groups were not merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MissedReason {
    /// The group would have more ops than this.
    Ops(usize),
    /// The group would read more values than this.
    Operands(usize),
    /// An op between them reads one and is read by the other.
    Cycle,
    /// They have no common kernel form.
    Form(&'static str),
    /// One is a reduction of weights and constants, which is computed once; the other is computed in every run.
    Settled,
    /// The group would not be cheaper, or would move more bytes.
    Cost {
        /// The cost of the separate groups, in picoseconds.
        apart: u64,
        /// The cost of the merged group, in picoseconds.
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

/// The report of a run. Costs are in picoseconds, as given by the cost model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Whether the module changed.
    pub changed: bool,
    /// The cost of the module before.
    pub cost_before: u64,
    /// The cost of the module after; never more than before.
    pub cost_after: u64,
    /// The bytes that the module moves before: the sum over the kernels of the values they read and write, each once.
    pub bytes_before: u64,
    /// The bytes that the module moves after; after fusing never more than before.
    pub bytes_after: u64,
    /// The number of regions that were processed, over all rounds.
    pub regions: usize,
    /// The statistics of each rule of the set.
    pub rules: Vec<RuleStats>,
    /// Every value that is computed by another op now, in program order.
    pub changes: Vec<Change>,
    /// Every group made, in program order.
    pub fused: Vec<FusedGroup>,
    /// Every op that was not fused with a reader of its result, in program order.
    pub missed: Vec<MissedFusion>,
    /// Regions that were kept, or whose search reached a limit.
    pub kept: Vec<KeptRegion>,
    /// The requested drawing.
    pub drawing: Option<mind_draw::Drawing>,
    /// Remarks and warnings for the user.
    pub remarks: Diagnostics,
}
