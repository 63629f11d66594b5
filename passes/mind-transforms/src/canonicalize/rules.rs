//! Patterns for rules from rule files.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mind_ir::attr::Attr;
use mind_ir::opdef::OpDef;
use mind_ir::{Graph, OpId, ValueId};
use mind_pass::{PassCx, PassError};
use mind_rewrite::{MatchFailure, OperandKinds, PatternSet, RewritePattern, Rewriter};
use mind_rules::{GreedyRule, NewTerm, ReplacementBuffers, RuleSet};
use smallvec::SmallVec;

use crate::rules::{classes, greedy_for_module};

/// Adds the rules for the greedy driver that can match in `g`, from the shipped rule files and those of the user.
///
/// # Errors
///
/// If a rule file is invalid.
pub(super) fn add(patterns: &mut PatternSet, g: &Graph, cx: &PassCx<'_>) -> Result<(), PassError> {
    let rules = greedy_for_module(g, cx)?;
    let enabled = |form: &GreedyRule| cx.rewriting.enables(rules.name(rules.rule_of(*form)));
    let buffers = Rc::new(RefCell::default());
    for form in rules.greedy(classes(cx.rewriting)).filter(enabled) {
        let (rules, buffers) = (Arc::clone(&rules), Rc::clone(&buffers));
        patterns.add(RulePattern::new(rules, form, buffers));
    }
    Ok(())
}

/// A form of a rule, as a pattern.
pub(crate) struct RulePattern {
    class: String,
    root: [&'static OpDef; 1],
    rules: Arc<RuleSet>,
    form: GreedyRule,
    /// Shared by all rules, because only one is applied at a time.
    buffers: Rc<RefCell<ReplacementBuffers>>,
}

impl RulePattern {
    /// Returns the pattern for the form `form` of one of `rules`. All patterns of a run share `buffers`.
    pub(crate) fn new(
        rules: Arc<RuleSet>,
        form: GreedyRule,
        buffers: Rc<RefCell<ReplacementBuffers>>,
    ) -> RulePattern {
        RulePattern {
            class: rules.rule(rules.rule_of(form)).class.names().join(","),
            root: [rules.root_of(form)],
            rules,
            form,
            buffers,
        }
    }
}

impl RewritePattern for RulePattern {
    fn name(&self) -> &str {
        self.rules.name(self.rules.rule_of(self.form))
    }

    fn place(&self) -> Option<(&str, usize)> {
        let info = self.rules.rule(self.rules.rule_of(self.form));
        Some((&info.file, info.line))
    }

    fn class(&self) -> &str {
        &self.class
    }

    fn roots(&self) -> &[&'static OpDef] {
        &self.root
    }

    fn may_match(&self, operands: &OperandKinds) -> bool {
        self.rules
            .may_match(self.form, operands.defs(), operands.are_same())
    }

    fn rewrite(&self, op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
        let mut buffers = self.buffers.borrow_mut();
        let terms = self.rules.replacement(self.form, rw, op, &mut buffers);
        let terms = terms.map_err(|reason| MatchFailure(reason.text()))?;
        let mut values: SmallVec<[ValueId; 4]> = SmallVec::new();
        let mut created: SmallVec<[ValueId; 4]> = SmallVec::new();
        let replaced = terms
            .iter()
            .try_for_each(|term| {
                let there = matches!(term, NewTerm::Value(_));
                let value = create(term, &values, op, rw)?;
                values.push(value);
                if !there {
                    created.push(value);
                }
                Ok(())
            })
            .and_then(|()| {
                let result = values.last().copied();
                let value = result.ok_or(MatchFailure("the right side is empty"))?;
                rw.replace_result(op, self.rules.result_of(self.form), value)
            });
        if replaced.is_err() {
            created
                .into_iter()
                .rev()
                .for_each(|value| rw.discard(value));
        }
        replaced
    }
}

fn create(
    term: &NewTerm,
    values: &[ValueId],
    op: OpId,
    rw: &mut Rewriter<'_>,
) -> Result<ValueId, MatchFailure> {
    match term {
        NewTerm::Value(value) => Ok(*value),
        NewTerm::Constant(tensor) => Ok(rw.constant(op, tensor)),
        NewTerm::Op {
            def,
            attrs,
            operands,
        } => {
            let operands: SmallVec<[ValueId; 4]> = operands.iter().map(|&at| values[at]).collect();
            let attrs: SmallVec<[Attr<'_>; 4]> = attrs.iter().map(|attr| attr.as_attr()).collect();
            rw.create(op, def, &operands, &attrs)
        }
    }
}
