//! Rules in a driver that replaces at once.

use mind_ir::opdef::OpDef;
use mind_ir::{Graph, OpId};

use crate::matching::replacement::{Asked, NewTerm, NoMatch, ReplacementBuffers, replacement};
use crate::ruleset::RuleSet;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleIx;

/// One form of a rule, of one direction and with one op for `op`, by its number in the rule set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GreedyRule(usize);

impl RuleSet {
    /// The rules for the greedy driver, of the exact class and of `classes`, in text order.
    pub fn greedy(&self, classes: FastMath) -> impl Iterator<Item = GreedyRule> {
        let acts = move |index: &usize| {
            let rule = &self.rules[*index];
            rule.engine.in_greedy() && classes.allows(rule.class)
        };
        (0..self.rules.len()).filter(acts).map(GreedyRule)
    }

    /// The forms of the rule of this name that put its right side for its left one, or if `reversed` the other way round.
    pub fn forms(&self, name: &str, reversed: bool) -> impl Iterator<Item = GreedyRule> {
        let is_form = move |index: &usize| {
            let rule = &self.rules[*index];
            rule.reversed == reversed && self.name(rule.name) == name
        };
        (0..self.rules.len()).filter(is_form).map(GreedyRule)
    }

    /// The rule that `form` is a form of.
    pub fn rule_of(&self, form: GreedyRule) -> RuleIx {
        self.rules[form.0].name
    }

    /// The kind of op that `form` acts on.
    pub fn root_of(&self, form: GreedyRule) -> &'static OpDef {
        self.ops.def(self.rules[form.0].pattern.root)
    }

    /// Which result of an op of its [kind](RuleSet::root_of) `form` replaces.
    pub fn result_of(&self, form: GreedyRule) -> usize {
        self.ops.result(self.rules[form.0].pattern.root)
    }

    /// Whether `form` may act on an op of its [kind](RuleSet::root_of) whose operands are computed by the ops of `defs`, if
    /// by any; `same` if the first two of them are one value. A cheap test that rejects most ops.
    pub fn may_match(&self, form: GreedyRule, defs: &[Option<&'static OpDef>], same: bool) -> bool {
        self.rules[form.0].operand_filter.admits(defs, same)
    }

    /// What `form` puts in place of `op`, which is of its [kind](RuleSet::root_of): terms, each after those it reads,
    /// the last one for the [result](RuleSet::result_of). The types of new ops are not checked.
    ///
    /// # Errors
    ///
    /// How far the best match came.
    pub fn replacement<'b>(
        &self,
        form: GreedyRule,
        g: &Graph,
        op: OpId,
        buffers: &'b mut ReplacementBuffers,
    ) -> Result<&'b [NewTerm], NoMatch> {
        let rule = &self.rules[form.0];
        let root = rule.pattern.root;
        // What nobody reads stays: an op of which another result is read computes it anyway.
        if self.ops.is_projection(root)
            && g.uses(g.results(op).get(self.ops.result(root))).is_empty()
        {
            return Err(NoMatch::Pattern);
        }
        replacement(rule, &self.ops, g, op, Asked::Condition, buffers)
    }
}
