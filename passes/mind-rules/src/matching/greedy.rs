//! Rules in the greedy driver.

use mind_ir::opdef::OpDef;
use mind_ir::{Graph, OpId};

use crate::matching::replacement::{
    NewTerm, NoMatch, ReplacementBuffers, Requirement, replacement,
};
use crate::ruleset::RuleSet;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleIx;

/// One form of a rule: one direction, with one op substituted for `op`. The number is its index in the rule set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GreedyRule(usize);

impl RuleSet {
    /// Returns the forms for the greedy driver, of the exact class and of `classes`, in text order.
    pub fn greedy(&self, classes: FastMath) -> impl Iterator<Item = GreedyRule> {
        let acts = move |index: &usize| {
            let rule = &self.rules[*index];
            rule.engine.in_greedy() && classes.allows(rule.class)
        };
        (0..self.rules.len()).filter(acts).map(GreedyRule)
    }

    /// Returns the forms of the rule named `name` that rewrite its left side to its right side, or the reverse if
    /// `reversed`.
    pub fn forms(&self, name: &str, reversed: bool) -> impl Iterator<Item = GreedyRule> {
        let is_form = move |index: &usize| {
            let rule = &self.rules[*index];
            rule.reversed == reversed && self.name(rule.name) == name
        };
        (0..self.rules.len()).filter(is_form).map(GreedyRule)
    }

    /// Returns the rule of which `form` is a form.
    pub fn rule_of(&self, form: GreedyRule) -> RuleIx {
        self.rules[form.0].name
    }

    /// Returns the definition of the root op of `form`.
    pub fn root_of(&self, form: GreedyRule) -> &'static OpDef {
        self.ops.def(self.rules[form.0].pattern.root)
    }

    /// Returns the index of the result of the [root op](RuleSet::root_of) that `form` replaces.
    pub fn result_of(&self, form: GreedyRule) -> usize {
        self.ops.result(self.rules[form.0].pattern.root)
    }

    /// Returns whether `form` may match an op of its [root](RuleSet::root_of) whose operands are defined by `defs`;
    /// `same` says whether its first two operands are one value. This is a cheap filter that rejects most ops.
    pub fn may_match(&self, form: GreedyRule, defs: &[Option<&'static OpDef>], same: bool) -> bool {
        self.rules[form.0].operand_filter.admits(defs, same)
    }

    /// Returns the replacement that `form` makes of `op`, an op of its [root](RuleSet::root_of): terms in topological
    /// order, the last of which replaces the [result](RuleSet::result_of). The types of new ops are not checked.
    ///
    /// # Errors
    ///
    /// The stage at which the best match failed.
    pub fn replacement<'b>(
        &self,
        form: GreedyRule,
        g: &Graph,
        op: OpId,
        buffers: &'b mut ReplacementBuffers,
    ) -> Result<&'b [NewTerm], NoMatch> {
        let rule = &self.rules[form.0];
        let root = rule.pattern.root;
        // An unused result is not replaced, because the op still computes it for its other results.
        if self.ops.is_projection(root)
            && g.uses(g.results(op).get(self.ops.result(root))).is_empty()
        {
            return Err(NoMatch::Pattern);
        }
        replacement(rule, &self.ops, g, op, Requirement::Condition, buffers)
    }
}
