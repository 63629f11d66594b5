//! Rules one by one, for tools that ask what a single rule does.

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
use crate::matching::matcher::{Found, Workspace, search};
use crate::matching::module::InModule;
use crate::matching::pattern::{Effect, Rule};
use crate::matching::replacement::{Asked, NewTerm, ReplacementBuffers, replacement};
use crate::matching::subject::Subject;
use crate::ruleset::RuleSet;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleIx;

impl RuleSet {
    /// Every form, in the order of the rule files: one direction of a rule for one of the ops that it is written for.
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
    /// Whether each part of the condition holds; `None` if it cannot be told.
    pub conditions: Vec<Option<bool>>,
    /// Whether each alternative of an `or` of the condition holds.
    pub alternatives: Vec<bool>,
    /// The terms of the right side, each after those it reads, the root last; `None` if one cannot be made.
    pub terms: Option<Vec<NewTerm>>,
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

    /// The rule made ready for matching.
    pub fn compiled(self) -> &'a Rule {
        self.rule
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

    /// Whether the condition leaves room for values of these dtypes, as far as they are known.
    pub fn claims(self, dtype_of: impl Fn(usize) -> Option<DType>) -> bool {
        let Some(condition) = &self.rule.condition else {
            return true;
        };
        let Lhs { types, ops, .. } = self.left(1);
        // An op with a dtype among its attributes has results of it.
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

    /// The parts of the condition that all must hold.
    pub fn parts(self) -> &'a [Condition] {
        match &self.rule.condition {
            None => &[],
            Some(Condition::All(parts)) => parts,
            Some(condition) => std::slice::from_ref(condition),
        }
    }

    /// Whether the rule matches results of ops of several, which the e-graph does not hold.
    pub fn matches_projection(self) -> bool {
        self.rule.pattern.matches_projection(&self.set.ops)
    }

    /// The first match at `root`, a value of the module: whether each [part](RuleInstance::parts) of the condition holds,
    /// which [alternatives](RuleInstance::taken) do, and what the rule puts there, as for the greedy driver.
    pub fn at(self, g: &Graph, root: ValueId) -> Option<InstanceMatch> {
        let subject = InModule::new(g, &self.set.ops);
        let (mut workspace, mut found) = (Workspace::default(), None);
        let mut accept = |matched: Found<'_, InModule<'_>>| {
            let scope = Scope {
                subject: &subject,
                registers: matched.registers,
                slots: matched.slots,
            };
            let parts = self.parts().iter();
            found = Some((
                parts.map(|part| part.holds(&scope)).collect(),
                self.taken(&scope),
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
        let asked = Asked::Pattern;
        let terms = replacement(self.rule, &self.set.ops, g, op, asked, &mut buffers);
        Some(InstanceMatch {
            conditions,
            alternatives,
            terms: terms.ok().map(<[NewTerm]>::to_vec),
        })
    }

    /// The [parts](RuleInstance::parts) of the condition, in words.
    pub fn conditions(self) -> Vec<String> {
        self.parts().iter().map(hints::text).collect()
    }

    /// How many alternatives the condition's `or`s have; see [`taken`](RuleInstance::taken).
    pub fn alternatives(self) -> usize {
        self.rule
            .condition
            .as_ref()
            .map_or(0, |condition| claims::alternatives(condition).len())
    }

    /// Which alternatives of the condition's `or`s hold for a match.
    pub fn taken<S: Subject>(self, scope: &Scope<'_, S>) -> Vec<bool> {
        let condition = self.rule.condition.as_ref();
        condition.map_or_else(Vec::new, |condition| claims::taken(condition, scope))
    }
}
