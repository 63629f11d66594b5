//! The ops on the sides of a rule.

use mind_diag::Diagnostics;
use mind_ir::opdef::Registry;
use rustc_hash::FxHashSet;

use crate::expr::Vocabulary;
use crate::language::ast::{Body, Operand, RuleAst, Term};
use crate::language::listed;
use crate::language::ops::{Ops, split_result};
use crate::op_table::OpTable;

/// A rule, with the ops of its `for op in …`.
pub(super) struct Sides<'r> {
    rule: &'r RuleAst<'static>,
    /// The ops that `op` may denote.
    listed: Vec<&'static str>,
}

impl<'r> Sides<'r> {
    pub(super) fn new(
        rule: &'r RuleAst<'static>,
        registry: &Registry,
        table: &OpTable,
    ) -> Sides<'r> {
        let ops = Ops {
            registry,
            table,
            vocabulary: &Vocabulary::new(),
            op: None,
        };
        let listed = match rule.ops.as_slice() {
            [] => None,
            entries => listed(entries, ops, &mut Diagnostics::new()),
        };
        let names = listed.into_iter().flatten().map(|op| table.def(op).name);
        Sides {
            rule,
            listed: names.collect(),
        }
    }

    /// Returns whether the rule can match, in either direction, if only the ops of `set` are available.
    pub(super) fn can_act(&self, set: &FxHashSet<&'static str>) -> bool {
        match &self.rule.body {
            Body::Fusion(term) => self.is_possible(term, set),
            Body::Rewrite { lhs, rhs, both } => {
                self.is_possible(lhs, set) || (*both && self.is_possible(rhs, set))
            }
        }
    }

    /// Adds to `set` the ops that the rule can create from its ops.
    pub(super) fn close(&self, set: &mut FxHashSet<&'static str>) {
        if let Body::Rewrite { lhs, rhs, both } = &self.rule.body {
            if self.is_possible(lhs, set) {
                self.add(rhs, set);
            }
            if *both && self.is_possible(rhs, set) {
                self.add(lhs, set);
            }
        }
    }

    /// Returns whether `term` can match if only the ops of `set` are available.
    fn is_possible(&self, term: &Term<'static>, set: &FxHashSet<&'static str>) -> bool {
        match term {
            Term::Value { name, .. } => {
                let mut lets = self.rule.lets.iter();
                let own = lets.find(|(own, _)| own.text == name.text);
                own.is_none_or(|(_, term)| self.is_possible(term, set))
            }
            Term::Named { term, .. } => self.is_possible(term, set),
            Term::Op { name, operands, .. } => {
                let has = if name.text == "op" {
                    self.listed.iter().any(|op| set.contains(op))
                } else {
                    set.contains(split_result(name.text).0)
                };
                let possible = |operand: &Operand<'static>| match operand {
                    Operand::One(term) | Operand::Each(term) => self.is_possible(term, set),
                    Operand::List(_) => true,
                };
                has && operands.iter().all(possible)
            }
            Term::Any { terms, .. } => terms.iter().any(|term| self.is_possible(term, set)),
            Term::Near { .. } | Term::Like { .. } => true,
        }
    }

    /// Adds the ops of `term` to `set`; `op` is already in it, because the pattern matched it.
    fn add(&self, term: &Term<'static>, set: &mut FxHashSet<&'static str>) {
        match term {
            Term::Named { term, .. } => self.add(term, set),
            Term::Op { name, operands, .. } => {
                if name.text != "op" {
                    set.insert(name.text);
                }
                for operand in operands {
                    if let Operand::One(term) | Operand::Each(term) = operand {
                        self.add(term, set);
                    }
                }
            }
            Term::Any { terms, .. } => terms.iter().for_each(|term| self.add(term, set)),
            Term::Value { .. } | Term::Near { .. } | Term::Like { .. } => {}
        }
    }
}
