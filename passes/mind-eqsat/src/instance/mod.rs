//! Rules one by one, for tools that ask what a single rule does.

mod apply;
mod claims;
mod hints;
mod lhs;

pub use apply::Application;
pub use hints::Hint;
pub use lhs::{Lhs, LhsAttr, LhsDim, LhsOp, LhsType};

use mind_ir::types::DType;
use mind_ir::{Graph, ValueId};

use crate::context::Context;
use crate::cost::CostTable;
use crate::egraph::optable::OpTable;
use crate::expr::Condition;
use crate::matching::pattern::{Effect, Pattern, Rule};
use crate::report::RuleIx;
use crate::ruleset::RuleSet;
use crate::ruleset::fast_math::FastMath;

/// The forms of a rule set's rules, each of which can be applied alone.
///
/// A form is one direction of a rule for one of the ops that it is written for.
pub struct RuleInstances<'a> {
    cx: Context<'a>,
    costs: CostTable<'a>,
}

impl<'a> RuleInstances<'a> {
    /// The forms of the rules of `cx`.
    pub fn new(cx: Context<'a>) -> RuleInstances<'a> {
        RuleInstances {
            cx,
            costs: CostTable::new(&cx.rules.ops, cx.cost),
        }
    }

    /// Every form, in the order of the rule files.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RuleInstance<'a>> {
        let set = self.cx.rules;
        set.rules.iter().map(move |rule| RuleInstance { set, rule })
    }

    /// Matches `form` at `root`, a value of the module's body, and appends what it puts there to the
    /// body: one application per match.
    ///
    /// The condition is evaluated and reported, not enforced, so that a caller can also see what it
    /// keeps out. A rule that joins values over several matches joins its own with `twin`, in both
    /// orders, as if another match had that one; without it there is no application.
    pub fn apply(
        &self,
        form: RuleInstance<'a>,
        g: &mut Graph,
        root: ValueId,
        twin: Option<ValueId>,
    ) -> Vec<Application> {
        apply::apply(&self.cx, &self.costs, form.rule, g, root, twin)
    }
}

/// One direction of a rule, for one of the ops that it is written for.
#[derive(Clone, Copy, Debug)]
pub struct RuleInstance<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
}

impl<'a> RuleInstance<'a> {
    /// The number of the rule.
    pub fn rule(self) -> RuleIx {
        self.rule.name
    }

    /// The name of the rule.
    pub fn name(self) -> &'a str {
        self.set.name(self.rule.name)
    }

    /// The classes that must be allowed for the rule to act.
    pub fn class(self) -> FastMath {
        self.rule.class
    }

    /// The relative error that the class `approx` allows; 0 where none is written.
    pub fn tolerance(self) -> f64 {
        self.rule.tolerance
    }

    /// Whether this is `<=>` read from right to left.
    pub fn reversed(self) -> bool {
        self.rule.reversed
    }

    /// What the matched ops are called as a group, if they are only gathered.
    pub fn group(self) -> Option<&'static str> {
        match self.rule.effect {
            Effect::Group(kind) => Some(kind),
            Effect::Rewrite(_) | Effect::Merge(..) => None,
        }
    }

    /// The value that is joined over several matches, as a number of [`Lhs`], if the rule joins one.
    pub fn joined(self) -> Option<usize> {
        match self.rule.effect {
            Effect::Merge(_, join) => Some(usize::from(join.reg)),
            Effect::Rewrite(_) | Effect::Group(_) => None,
        }
    }

    /// Whether the rule looks for lists of operands.
    pub fn has_lists(self) -> bool {
        self.rule.pattern.lists > 0
    }

    /// What the rule looks for, each list of operands as a list of `listed`, at least one.
    pub fn left(self, listed: usize) -> Lhs<'a> {
        lhs::left(&self.rule.pattern, &self.set.ops, listed.max(1)).0
    }

    /// What values and types the rule asks for, as far as it says so directly; of the values that
    /// [`left`](RuleInstance::left) gives for lists of `listed`.
    pub fn hints(self, listed: usize) -> Vec<Hint> {
        let mut found = hints::of_pattern(&self.rule.pattern);
        if let Some(condition) = &self.rule.condition {
            let (_, lists) = lhs::left(&self.rule.pattern, &self.set.ops, listed.max(1));
            hints::hints(condition, &lists, &mut found);
        }
        found
    }

    /// Whether the condition leaves room for values of `dtype`.
    pub fn claims(self, dtype: DType) -> bool {
        let condition = self.rule.condition.as_ref();
        condition.is_none_or(|condition| claims::holds(condition, dtype) != Some(false))
    }

    /// The parts of the condition that all must hold, in words; the order is that of
    /// [`Application::conditions`].
    pub fn conditions(self) -> Vec<String> {
        let text = |condition: &Condition| hints::text(condition);
        parts(self.rule).iter().map(text).collect()
    }

    /// How many alternatives the condition's `or`s have; see [`Application::alternatives`].
    pub fn alternatives(self) -> usize {
        self.rule
            .condition
            .as_ref()
            .map_or(0, |condition| claims::alternatives(condition).len())
    }
}

/// The tree behind a pattern.
pub(crate) fn left_of<'r>(pattern: &'r Pattern, table: &OpTable) -> Lhs<'r> {
    lhs::left(pattern, table, 1).0
}

/// The parts of a rule's condition that all must hold.
fn parts(rule: &Rule) -> &[Condition] {
    match &rule.condition {
        None => &[],
        Some(Condition::All(parts)) => parts,
        Some(condition) => std::slice::from_ref(condition),
    }
}
