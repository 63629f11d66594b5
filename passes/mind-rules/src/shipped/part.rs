//! Which shipped rules can act on a module.
//!
//! Parsing and compiling all rules takes longer than rewriting a small module. A rule can act only where every op of its
//! left side is in the module, or on the right side of a rule that can act: the files are cut into rules once, a rule is
//! parsed when the words on its left side that may be ops are names of such ops, and those that can act are compiled.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use mind_diag::Diagnostics;
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Registry};
use rustc_hash::FxHashSet;

use super::files::SHIPPED;
use crate::expr::Vocabulary;
use crate::language::ast::{Body, Operand, RuleAst, Term};
use crate::language::ops::{Ops, split_result};
use crate::language::{RuleLocation, header, listed, parse_from};
use crate::op_table::OpTable;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::RuleInfo;

/// A shipped rule as it is written.
pub(crate) struct Written {
    /// Which of the files it is in, from 0.
    pub(crate) file: usize,
    place: RuleLocation<'static>,
    /// Where it begins and ends in the text of the file.
    bytes: Range<usize>,
    name: &'static str,
    /// The words with a dot on each side from which it may act; ops are among them.
    sides: Vec<Vec<&'static str>>,
    /// Whether one of those words is enough: a fusion has alternatives.
    has_alternatives: bool,
    parsed: OnceLock<Parsed>,
}

/// What a shipped rule says.
pub(crate) struct Parsed {
    pub(crate) info: RuleInfo,
    pub(crate) rule: RuleAst<'static>,
}

impl Written {
    fn new(file: usize, place: RuleLocation<'static>, bytes: Range<usize>) -> Written {
        let text = &SHIPPED[file].1[bytes.clone()];
        Written {
            file,
            place,
            bytes,
            name: text.split_ascii_whitespace().nth(1).unwrap_or(""),
            sides: left_sides(text),
            has_alternatives: text.starts_with("fusion "),
            parsed: OnceLock::new(),
        }
    }

    /// Whether it may act where only ops of `set` are; parsing says whether it can.
    fn may_act(&self, set: &FxHashSet<&'static str>) -> bool {
        let mut sides = self.sides.iter();
        sides.any(|words| {
            let mut words = words.iter();
            if self.has_alternatives {
                words.any(|word| set.contains(word))
            } else {
                words.all(|word| set.contains(word))
            }
        })
    }

    pub(crate) fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| {
            let text = SHIPPED[self.file].1;
            // Tests hold that there are no mistakes.
            let mut found = Diagnostics::new();
            let rules = parse_from(&text[..self.bytes.end], self.bytes.start, &mut found);
            let rule = rules.into_iter().next().expect("a shipped rule parses");
            let info = header::info(&rule, self.place, text, &mut found);
            Parsed { info, rule }
        })
    }
}

/// The words with a dot of the left side of a rule; of both sides if it is read both ways, of the whole text if it has
/// no sides.
fn left_sides(text: &str) -> Vec<Vec<&str>> {
    let sides = text.match_indices("=> ").find_map(|(arrow, _)| {
        let line = text[..arrow].rfind('\n')? + 1;
        let left = text[line..arrow].trim_start();
        let is_clause = left.starts_with("source ") || left.starts_with('#');
        let right = text[arrow..].lines().next()?;
        (!is_clause).then_some((left, right))
    });
    let Some((left, right)) = sides else {
        return vec![dotted(text)];
    };
    match left.strip_suffix('<') {
        Some(left) => vec![dotted(left), dotted(right)],
        None => vec![dotted(left)],
    }
}

/// The words of `text` with a dot between two letters or digits, that begin with a letter and are no list.
fn dotted(text: &str) -> Vec<&str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let bytes = text.as_bytes();
    let word = |(dot, _): (usize, &str)| {
        let before = bytes[..dot]
            .iter()
            .rev()
            .take_while(|byte| is_part(byte))
            .count();
        let behind = bytes[dot + 1..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        let word = &text[dot - before..=dot + behind];
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.contains("..");
        (is_name && before > 0 && behind > 0).then(|| split_result(word).0)
    };
    text.match_indices('.').filter_map(word).collect()
}

/// All shipped rules, in the order of the files. Each begins a line.
static WRITTEN: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (number, &(name, text)) in SHIPPED.iter().enumerate() {
        let (mut at, mut heads) = (0, Vec::new());
        for (line, own) in text.split_inclusive('\n').enumerate() {
            if own.starts_with("rule ") || own.starts_with("fusion ") {
                heads.push((at, line + 1));
            }
            at += own.len();
        }
        let ends = heads.iter().skip(1).map(|&(at, _)| at).chain([text.len()]);
        for (&(start, line), end) in heads.iter().zip(ends) {
            let place = RuleLocation { file: name, line };
            all.push(Written::new(number, place, start..end));
        }
    }
    all
});

/// The names of all shipped rules, in the order of the files.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    WRITTEN.iter().map(|own| own.name)
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
        let named = defs
            .filter(|def| table.transparent(def).is_some() || table.projection(def, 0).is_some());
        ShippedOps(Some(named.map(|def| def.name).collect()))
    }

    /// These ops and all that shipped rules among `wanted` make of them.
    #[must_use]
    pub fn closed(self, registry: &Registry, wanted: Wanted) -> ShippedOps {
        let ShippedOps(Some(mut set)) = self else {
            return self;
        };
        let table = OpTable::new(registry);
        let mut sides: Vec<Option<Sides<'_>>> = WRITTEN.iter().map(|_| None).collect();
        loop {
            let before = set.len();
            for (own, sides) in WRITTEN.iter().zip(&mut sides) {
                if sides.is_none() && own.may_act(&set) && wanted.has(&own.parsed().info) {
                    *sides = Some(Sides::new(&own.parsed().rule, registry, &table));
                }
                if let Some(sides) = sides {
                    sides.close(&mut set);
                }
            }
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
            let can = |set| {
                own.may_act(set) && Sides::new(&own.parsed().rule, registry, table).can_act(set)
            };
            self.0.as_ref().is_none_or(can) && wanted.has(&own.parsed().info)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::parse_from;

    #[test]
    fn files_are_cut_where_their_rules_begin_and_end() {
        for (number, &(file, text)) in SHIPPED.iter().enumerate() {
            let mut found = Diagnostics::new();
            let whole = parse_from(text, 0, &mut found);
            assert!(!found.has_errors(), "{file}");
            let cut: Vec<&Written> = WRITTEN.iter().filter(|own| own.file == number).collect();
            assert_eq!(whole.len(), cut.len(), "{file}");
            for (whole, cut) in whole.iter().zip(cut) {
                let own = &cut.parsed().rule;
                assert_eq!(whole.name.text, cut.name, "{file}");
                // Clauses hold numbers of tokens, which only the formatter reads.
                let said = |rule: &RuleAst<'_>| {
                    let parts = (
                        &rule.body,
                        &rule.condition,
                        &rule.lets,
                        &rule.ops,
                        &rule.kind,
                    );
                    let header = (
                        rule.span,
                        &rule.class,
                        &rule.engine,
                        &rule.phase,
                        &rule.source,
                    );
                    format!("{parts:?} {header:?}")
                };
                assert_eq!(said(whole), said(own), "{file}");
                let line = text[..whole.name.span.start as usize].lines().count();
                assert_eq!(cut.place.line, line, "{}", cut.name);
            }
        }
    }

    #[test]
    fn a_rule_whose_words_name_no_op_of_a_module_cannot_act_on_it() {
        let registry = Registry::with([mind_ir::builtin::DIALECT, mind_core::DIALECT]);
        let table = OpTable::new(&registry);
        for def in registry.ops() {
            let set: FxHashSet<&'static str> = [def.name].into_iter().collect();
            for own in WRITTEN.iter().filter(|own| !own.may_act(&set)) {
                let sides = Sides::new(&own.parsed().rule, &registry, &table);
                assert!(!sides.can_act(&set), "{} on {}", own.name, def.name);
            }
        }
    }
}
