//! What a run did.

use mind_diag::{Diagnostics, Span};

/// The number of a named rule in its [`RuleSet`](crate::RuleSet).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleIx(pub(crate) u16);

impl RuleIx {
    /// This number as an index into [`Report::rules`].
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// How often a rule matched and what came of it. What is found again in a later round counts again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RuleStats {
    /// Matches whose condition held.
    pub matched: usize,
    /// Matches that made two classes one.
    pub applied: usize,
    /// Matches whose right side has no type or another one.
    pub refused: usize,
    /// Values of the result whose op the rule made.
    pub chosen: usize,
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
    /// The rules that led there, the last one first; none where only equal operands made it equal.
    pub rules: Vec<RuleIx>,
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
    /// Two classes with different types or constants became one: a rule in force is unsound.
    Contradiction,
    /// The e-graph reached its limit of e-nodes; what was found until then counts.
    Nodes(usize),
    /// A rule reached its limit of matches; the others went on.
    Matches(RuleIx),
}

/// A group of ops that now run as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FusedGroup {
    /// The place of the group's last op.
    pub span: Span,
    /// What the group is called.
    pub kind: &'static str,
    /// How many ops it has.
    pub ops: usize,
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
    /// How many regions were looked at, those of a second pass included.
    pub regions: usize,
    /// One entry per rule of the set.
    pub rules: Vec<RuleStats>,
    /// Every value that another op now computes, in program order.
    pub changes: Vec<Change>,
    /// Every group made.
    pub fused: Vec<FusedGroup>,
    /// Regions that stayed as they were, or were not searched to the end.
    pub kept: Vec<Kept>,
    /// The same and more, for people.
    pub remarks: Diagnostics,
}
