//! Selection of the shipped rules that can match in a module.
//!
//! Parsing and compiling all rules takes longer than rewriting a small module, so only the rules that can match are
//! compiled. A rule can match only if every op of its left side is in the module or on the right side of a rule that
//! can match. The build script splits the files into rules and extracts the words that may be ops; a rule is parsed
//! only if these words are names of available ops.

use mind_ir::OpId;
use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Registry};
use rustc_hash::FxHashSet;

use super::sides::Sides;
use super::written::{WRITTEN, Written};
use crate::op_table::OpTable;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::{Engine, RuleInfo};

/// A selection of shipped rules: one engine and a set of classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleSelection {
    /// The fast-math classes that are allowed.
    pub classes: FastMath,
    /// Whether the greedy driver applies the rules, and not the e-graph.
    pub greedy: bool,
}

impl RuleSelection {
    fn has(self, info: &RuleInfo) -> bool {
        self.has_engine(info.engine) && self.classes.allows(info.class)
    }

    /// Returns whether the selection includes rules of this engine.
    pub(super) fn has_engine(self, engine: Engine) -> bool {
        if self.greedy {
            engine.in_greedy()
        } else {
            engine.in_egraph()
        }
    }
}

/// A set of op names: the ops of modules, and the ops that rules create from them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShippedOps(
    /// `None` for every op.
    Option<FxHashSet<&'static str>>,
);

impl ShippedOps {
    /// Every op.
    pub const ALL: ShippedOps = ShippedOps(None);

    /// Returns the ops of `g`, nested bodies included, that rules may name.
    pub fn of(g: &Graph, registry: &Registry) -> ShippedOps {
        let table = OpTable::new(registry);
        let is_named = |def: &'static OpDef| {
            table.transparent(def).is_some() || table.projection(def, 0).is_some()
        };
        let mut seen: FxHashSet<*const OpDef> = FxHashSet::default();
        let mut ops = FxHashSet::default();
        for op in (0..g.op_bound()).map(OpId::new) {
            let def = g.def(op);
            // A scan in id order is fast because it is sequential; erased ops have no parent.
            if !seen.contains(&std::ptr::from_ref(def)) && g.parent(op).is_some() {
                seen.insert(def);
                if is_named(def) {
                    ops.insert(def.name);
                }
            }
        }
        ShippedOps(Some(ops))
    }

    /// Adds all ops that the shipped rules among `selection` can create from these, transitively. Results of the idiom
    /// phase are not added because only fusions read them.
    #[must_use]
    pub fn closed(self, registry: &Registry, selection: RuleSelection) -> ShippedOps {
        self.closed_under(|own| !own.is_late, registry, selection)
    }

    /// Adds all ops that the shipped rules among `selection` that `takes` accepts can create from these, transitively.
    fn closed_under(
        self,
        takes: impl Fn(&Written) -> bool,
        registry: &Registry,
        selection: RuleSelection,
    ) -> ShippedOps {
        let ShippedOps(Some(mut set)) = self else {
            return self;
        };
        let table = OpTable::new(registry);
        let rules = WRITTEN
            .iter()
            .filter(|own| own.may_be(selection) && takes(own));
        let rules: Vec<&Written> = rules.collect();
        let mut sides: Vec<Option<Sides<'_>>> = rules.iter().map(|_| None).collect();
        loop {
            let before = set.len();
            for (own, sides) in rules.iter().zip(&mut sides) {
                if sides.is_none() && own.may_act(&set) && selection.has(&own.parsed().info) {
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

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, other: ShippedOps) -> ShippedOps {
        let both = self.0.zip(other.0);
        ShippedOps(both.map(|(own, other)| own.into_iter().chain(other).collect()))
    }

    /// Returns whether every op of `other` is in the set.
    pub fn covers(&self, other: &ShippedOps) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own.is_superset(other),
        }
    }

    /// Returns whether the op of this name is in the set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|set| set.contains(name))
    }

    /// Returns the set, and with it the ops that are available in the late phases of the rules among `selection`.
    pub(crate) fn met(&self, registry: &Registry, selection: RuleSelection) -> MetOps<'_> {
        let late = self.clone();
        MetOps {
            early: self,
            late: late.closed_under(|own| own.is_late, registry, selection),
        }
    }
}

/// The ops that rules can match in modules with a closed set of ops.
pub(crate) struct MetOps<'o> {
    early: &'o ShippedOps,
    /// The ops available to the idiom phase and to fusions.
    late: ShippedOps,
}

impl MetOps<'_> {
    /// Returns the ops available to `rule`.
    pub(crate) fn by(&self, rule: &Written) -> &ShippedOps {
        if rule.is_late { &self.late } else { self.early }
    }

    /// Returns the shipped rules among `selection` that can match, in the order of the files.
    pub(crate) fn rules(
        &self,
        registry: &Registry,
        table: &OpTable,
        selection: RuleSelection,
    ) -> impl Iterator<Item = &'static Written> {
        let can_act = move |rule: &&Written| {
            let can_act = |set| {
                rule.may_act(set) && Sides::new(&rule.parsed().rule, registry, table).can_act(set)
            };
            self.by(rule).0.as_ref().is_none_or(can_act) && selection.has(&rule.parsed().info)
        };
        let rules = WRITTEN.iter().filter(move |rule| rule.may_be(selection));
        rules.filter(can_act)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
