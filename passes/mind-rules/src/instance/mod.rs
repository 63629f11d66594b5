//! Access to single rules, for tools that test or explain them.

mod claims;
mod hints;
mod lhs;

pub use hints::Hint;
pub use lhs::{Lhs, LhsAttr, LhsDim, LhsOp, LhsType};

use mind_ir::attr::AttrKind;
use mind_ir::opdef::AttrDef;
use mind_ir::types::DType;
use mind_ir::{Graph, ValueId};

use crate::expr::{Condition, Scope};
use crate::matching::matcher::{Match, Workspace, search};
use crate::matching::module::InModule;
use crate::matching::pattern::{Effect, Rule};
use crate::matching::replacement::{NewTerm, ReplacementBuffers, Requirement, replacement};
use crate::matching::subject::Subject;
use crate::ruleset::RuleSet;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleIx;

impl RuleSet {
    /// Iterates over all forms in the order of the rule files. A form is one direction of a rule for one of the ops
    /// that it is written for.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = RuleInstance<'_>> {
        let set = self;
        self.rules
            .iter()
            .map(move |rule| RuleInstance { set, rule })
    }
}

/// A match of a rule in a module.
#[derive(Debug)]
pub struct InstanceMatch {
    /// Whether each part of the condition holds; `None` if it is not known.
    pub conditions: Vec<Option<bool>>,
    /// Whether each alternative of the condition's `or`s holds.
    pub alternatives: Vec<bool>,
    /// The terms of the right side in topological order, the root last; `None` if one of them cannot be built.
    pub terms: Option<Vec<NewTerm>>,
}

/// One direction of a rule, for one of the ops that it is written for.
#[derive(Clone, Copy, Debug)]
pub struct RuleInstance<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
}

impl<'a> RuleInstance<'a> {
    /// Returns the index of the rule.
    pub fn rule(self) -> RuleIx {
        self.rule.name
    }

    /// Returns the compiled form.
    pub fn compiled(self) -> &'a Rule {
        self.rule
    }

    /// Returns the name of the rule.
    pub fn name(self) -> &'a str {
        self.set.name(self.rule.name)
    }

    /// Returns the classes of fast math that must be allowed for the rule to be active.
    pub fn class(self) -> FastMath {
        self.rule.class
    }

    /// Returns the relative error of class `approx`; 0 if the rule states none.
    pub fn tolerance(self) -> f64 {
        self.rule.tolerance
    }

    /// Returns whether the form is the right-to-left direction of `<=>`.
    pub fn reversed(self) -> bool {
        self.rule.reversed
    }

    /// Returns the kind of group of a fusion; `None` for rules that rewrite.
    pub fn group(self) -> Option<&'static str> {
        match self.rule.effect {
            Effect::Group(kind) => Some(kind),
            Effect::Rewrite(_) | Effect::Merge(..) => None,
        }
    }

    /// Returns the number in [`Lhs`] of the value that a merge rule joins over several matches.
    pub fn joined(self) -> Option<usize> {
        match self.rule.effect {
            Effect::Merge(_, join) => Some(usize::from(join.reg)),
            Effect::Rewrite(_) | Effect::Group(_) => None,
        }
    }

    /// Returns whether the pattern has lists of operands.
    pub fn has_lists(self) -> bool {
        self.rule.pattern.lists > 0
    }

    /// Returns the left side, with `listed` values (at least one) for each list of operands.
    pub fn left(self, listed: usize) -> Lhs<'a> {
        lhs::left(&self.rule.pattern, &self.set.ops, listed.max(1)).0
    }

    /// Returns the constraints on values that the rule states directly. Values are numbered as by
    /// [`left`](RuleInstance::left) with the same `listed`.
    pub fn hints(self, listed: usize) -> Vec<Hint> {
        let mut found = hints::of_pattern(&self.rule.pattern);
        if let Some(condition) = &self.rule.condition {
            let (_, lists) = lhs::left(&self.rule.pattern, &self.set.ops, listed.max(1));
            hints::hints(condition, &lists, &mut found);
        }
        found
    }

    /// Returns whether the condition can hold for values of these dtypes; unknown dtypes are `None`.
    pub fn claims(self, dtype_of: impl Fn(usize) -> Option<DType>) -> bool {
        let Some(condition) = &self.rule.condition else {
            return true;
        };
        let Lhs { types, ops, .. } = self.left(1);
        // The results of an op with a dtype attribute have that dtype.
        let attr = |op: &LhsOp<'_>, slot: usize| {
            let mut rows = op.attrs.iter().zip(op.def.attrs);
            let is_own = |(attr, row): (&LhsAttr<'_>, &AttrDef)| {
                row.kind == AttrKind::ElementType
                    && matches!(attr, LhsAttr::Named(own) if *own == slot)
            };
            rows.any(is_own).then(|| dtype_of(op.result)).flatten()
        };
        let typed = |typed: claims::Typed| match typed {
            claims::Typed::Value(value) => dtype_of(value),
            claims::Typed::Attr(slot) => ops.iter().find_map(|op| attr(op, slot)),
            claims::Typed::DType(slot) => {
                let named = types.iter().find(|(_, ty)| ty.dtype == Some(slot));
                named.and_then(|&(value, _)| dtype_of(value))
            }
        };
        claims::holds(condition, &typed) != Some(false)
    }

    /// Returns the conjuncts of the condition.
    pub fn parts(self) -> &'a [Condition] {
        match &self.rule.condition {
            None => &[],
            Some(Condition::All(parts)) => parts,
            Some(condition) => std::slice::from_ref(condition),
        }
    }

    /// Returns whether the pattern matches a result of a multi-result op, which the e-graph does not represent.
    pub fn matches_projection(self) -> bool {
        self.rule.pattern.matches_projection(&self.set.ops)
    }

    /// Returns the first match at `root`, a value of the module: whether each [part](RuleInstance::parts) of the
    /// condition holds, which [alternatives](RuleInstance::holding_alternatives) hold, and the replacement
    /// that the greedy driver would build.
    pub fn at(self, g: &Graph, root: ValueId) -> Option<InstanceMatch> {
        let subject = InModule::new(g, &self.set.ops);
        let (mut workspace, mut found) = (Workspace::default(), None);
        let mut accept = |matched: Match<'_, InModule<'_>>| {
            let scope = Scope {
                subject: &subject,
                registers: matched.registers,
                slots: matched.slots,
            };
            let parts = self.parts().iter();
            found = Some((
                parts.map(|part| part.holds(&scope)).collect(),
                self.holding_alternatives(&scope),
            ));
            false
        };
        search(
            &subject,
            &self.rule.pattern,
            root,
            &mut workspace,
            &mut accept,
        );
        let (conditions, alternatives) = found?;
        let mut buffers = ReplacementBuffers::default();
        let op = g.defining_op(root)?;
        let required = Requirement::Pattern;
        let terms = replacement(self.rule, &self.set.ops, g, op, required, &mut buffers);
        Some(InstanceMatch {
            conditions,
            alternatives,
            terms: terms.ok().map(<[NewTerm]>::to_vec),
        })
    }

    /// Returns the [parts](RuleInstance::parts) of the condition as text.
    pub fn conditions(self) -> Vec<String> {
        self.parts().iter().map(hints::text).collect()
    }

    /// Returns the number of alternatives of the condition's `or`s; see
    /// [`holding_alternatives`](RuleInstance::holding_alternatives).
    pub fn alternatives(self) -> usize {
        self.rule
            .condition
            .as_ref()
            .map_or(0, |condition| claims::alternatives(condition).len())
    }

    /// Returns which alternatives of the condition's `or`s hold in a match.
    pub fn holding_alternatives<S: Subject>(self, scope: &Scope<'_, S>) -> Vec<bool> {
        let condition = self.rule.condition.as_ref();
        condition.map_or_else(Vec::new, |condition| {
            claims::holding_alternatives(condition, scope)
        })
    }
}
