//! Which shipped rules can act on a module.
//!
//! Parsing all rule files takes 1 ms in a development build, compiling all rules 3 ms more, where folding a module of three ops takes
//! 0.3 ms: files are parsed once, and of their rules those are compiled that can act. A rule can act only where every op
//! of its left side is in the module, or on the right side of a rule that can act.

use std::sync::LazyLock;

use mind_diag::Diagnostics;
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Registry};
use rustc_hash::FxHashSet;

use super::files::SHIPPED;
use crate::expr::Vocabulary;
use crate::language::ast::{Body, Operand, RuleAst, Term};
use crate::language::ops::Ops;
use crate::language::{RuleLocation, header, listed, parse};
use crate::op_table::OpTable;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleInfo;

/// A shipped rule as it is written.
pub(crate) struct Written {
    /// Which of the files it is in, from 0.
    pub(crate) file: usize,
    pub(crate) info: RuleInfo,
    pub(crate) rule: RuleAst<'static>,
}

/// All shipped rules, in the order of the files.
static WRITTEN: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (number, &(name, text)) in SHIPPED.iter().enumerate() {
        // Tests hold that there are no mistakes.
        let mut found = Diagnostics::new();
        let (mut line, mut at) = (1, 0);
        for rule in parse(text, &mut found) {
            let start = rule.name.span.start as usize;
            let between = text.as_bytes()[at..start].iter();
            line += between.filter(|&&byte| byte == b'\n').count();
            at = start;
            let place = RuleLocation { file: name, line };
            all.push(Written {
                file: number,
                info: header::info(&rule, place, text, &mut found),
                rule,
            });
        }
    }
    all
});

/// The names of all shipped rules, in the order of the files.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    WRITTEN.iter().map(|own| own.rule.name.text)
}

/// The shipped rules of one engine that may act.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The classes that may act beyond the exact one.
    pub classes: FastMath,
    /// Which of the two engines applies the rules.
    pub greedy: bool,
}

impl Wanted {
    fn has(self, info: &RuleInfo) -> bool {
        let in_engine = if self.greedy {
            info.engine.in_greedy()
        } else {
            info.engine.in_egraph()
        };
        in_engine && self.classes.allows(info.class)
    }
}

/// A set of ops, by name: those of modules, and what rules make of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShippedOps(
    /// `None` for every op.
    Option<FxHashSet<&'static str>>,
);

impl ShippedOps {
    /// Every op.
    pub const ALL: ShippedOps = ShippedOps(None);

    /// The ops of `g`, in every body, that rules may name.
    pub fn of(g: &Graph, registry: &Registry) -> ShippedOps {
        let table = OpTable::new(registry);
        let mut seen: FxHashSet<*const OpDef> = FxHashSet::default();
        let defs = g.walk().map(|op| g.def(op));
        let defs = defs.filter(|def| seen.insert(std::ptr::from_ref(*def)));
        let named = defs.filter(|def| table.transparent(def).is_some());
        ShippedOps(Some(named.map(|def| def.name).collect()))
    }

    /// These ops and all that shipped rules among `wanted` make of them.
    #[must_use]
    pub fn closed(self, registry: &Registry, wanted: Wanted) -> ShippedOps {
        let ShippedOps(Some(mut set)) = self else {
            return self;
        };
        let table = OpTable::new(registry);
        let rules = WRITTEN.iter().filter(|own| wanted.has(&own.info));
        let rules: Vec<Sides<'_>> = rules
            .map(|own| Sides::new(&own.rule, registry, &table))
            .collect();
        loop {
            let before = set.len();
            rules.iter().for_each(|rule| rule.close(&mut set));
            if set.len() == before {
                return ShippedOps(Some(set));
            }
        }
    }

    /// The ops of both sets.
    #[must_use]
    pub fn union(self, other: ShippedOps) -> ShippedOps {
        let both = self.0.zip(other.0);
        ShippedOps(both.map(|(own, other)| own.into_iter().chain(other).collect()))
    }

    /// Whether every op of `other` is in this set.
    pub fn covers(&self, other: &ShippedOps) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own.is_superset(other),
        }
    }

    /// Whether it has the op of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|set| set.contains(name))
    }

    /// The shipped rules among `wanted` that can act on modules of these ops alone, in the order of the files.
    pub(crate) fn rules(
        &self,
        registry: &Registry,
        table: &OpTable,
        wanted: Wanted,
    ) -> impl Iterator<Item = &'static Written> {
        let can = move |own: &&Written| {
            let can = |set| Sides::new(&own.rule, registry, table).can_act(set);
            wanted.has(&own.info) && self.0.as_ref().is_none_or(can)
        };
        WRITTEN.iter().filter(can)
    }
}

/// The terms of a rule, with the ops that it is written for.
struct Sides<'r> {
    rule: &'r RuleAst<'static>,
    /// What `op` stands for.
    listed: Vec<&'static str>,
}

impl<'r> Sides<'r> {
    fn new(rule: &'r RuleAst<'static>, registry: &Registry, table: &OpTable) -> Sides<'r> {
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

    /// Whether the rule can act, in either direction, where only ops of `set` are.
    fn can_act(&self, set: &FxHashSet<&'static str>) -> bool {
        match &self.rule.body {
            Body::Fusion(term) => self.is_possible(term, set),
            Body::Rewrite { lhs, rhs, both } => {
                self.is_possible(lhs, set) || (*both && self.is_possible(rhs, set))
            }
        }
    }

    /// Adds to `set` what the rule makes of its ops.
    fn close(&self, set: &mut FxHashSet<&'static str>) {
        if let Body::Rewrite { lhs, rhs, both } = &self.rule.body {
            if self.is_possible(lhs, set) {
                self.add(rhs, set);
            }
            if *both && self.is_possible(rhs, set) {
                self.add(lhs, set);
            }
        }
    }

    /// Whether `term` can match where only ops of `set` are.
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
                    set.contains(name.text)
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

    /// Adds the ops of `term` to `set`; `op` is one that was there.
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
