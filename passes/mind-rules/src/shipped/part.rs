//! Which shipped rules can act on a module.
//!
//! Reading all rule files takes 3 ms, where folding a module of three ops takes 0.3 ms. A rule can act only where every op
//! of its left side stands: in the module, or on the right side of a rule that can act.

use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Registry};
use rustc_hash::FxHashSet;

use super::files::SHIPPED;
use super::index::{OPS, RULES};
use super::row::Row;
use crate::ruleset::fast_math::FastMath;

/// A set of ops that shipped rules name.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ShippedOps(u128);

impl ShippedOps {
    /// Every op that shipped rules name.
    pub const ALL: ShippedOps = ShippedOps(u128::MAX);

    /// The ops of `g`, in every body, that shipped rules name.
    pub fn of(g: &Graph, registry: &Registry) -> ShippedOps {
        let defs: Vec<Option<&'static OpDef>> = OPS.iter().map(|name| registry.get(name)).collect();
        let mut seen: FxHashSet<*const OpDef> = FxHashSet::default();
        let mut set = 0;
        for op in g.walk() {
            let def = g.def(op);
            if !seen.insert(std::ptr::from_ref(def)) {
                continue;
            }
            let bit = defs
                .iter()
                .position(|own| own.is_some_and(|own| std::ptr::eq(own, def)));
            set |= bit.map_or(0, |bit| 1 << bit);
        }
        ShippedOps(set)
    }

    /// These ops and all that shipped rules among `wanted` make of them.
    #[must_use]
    pub fn closed(self, wanted: Wanted) -> ShippedOps {
        let mut set = self.0;
        loop {
            let forms = RULES
                .iter()
                .filter(|row| wanted.has(row))
                .flat_map(|row| row.forms)
                .filter(|form| form.needs & set == form.needs);
            let more = forms.fold(set, |all, form| all | form.makes);
            if more == set {
                return ShippedOps(set);
            }
            set = more;
        }
    }

    /// The ops of both sets.
    #[must_use]
    pub fn union(self, other: ShippedOps) -> ShippedOps {
        ShippedOps(self.0 | other.0)
    }

    /// Whether every op of `other` is in this set.
    pub fn covers(self, other: ShippedOps) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it has the op of this name, if a shipped rule names it at all.
    pub(crate) fn has(self, name: &str) -> bool {
        let bit = OPS.iter().position(|own| *own == name);
        bit.is_none_or(|bit| self.0 >> bit & 1 == 1)
    }
}

/// The names of all shipped rules, in the order of the files.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|row| row.name)
}

/// A shipped rule as it is written.
pub(crate) struct Written {
    pub(crate) file: &'static str,
    pub(crate) line: usize,
    pub(crate) text: &'static str,
}

/// The shipped rules among `wanted` that can act on modules of these ops alone, in the order of the files.
pub(crate) fn written(ops: ShippedOps, wanted: Wanted) -> impl Iterator<Item = Written> {
    let can = move |row: &&Row| {
        let mut forms = row.forms.iter();
        wanted.has(row) && forms.any(|form| form.needs & ops.0 == form.needs)
    };
    RULES.iter().filter(can).map(|row| {
        let (file, text) = SHIPPED[row.file];
        Written {
            file,
            line: row.line,
            text: &text[row.text.0..row.text.1],
        }
    })
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
    fn has(self, row: &Row) -> bool {
        let words = row.class.iter().filter_map(|word| FastMath::parse(word));
        let in_engine = if self.greedy {
            row.engine.in_greedy()
        } else {
            row.engine.in_egraph()
        };
        in_engine
            && self
                .classes
                .allows(words.fold(FastMath::EXACT, FastMath::union))
    }
}
