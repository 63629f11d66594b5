//! The names that values are printed under.

use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use mind_mil::call::OUT;
use mind_mil::ops;
use mind_mil::structure::{Const, Func, Input};

use crate::mil::names::{Names, is_name};

/// Positions of the attributes of a constant.
pub(super) const CONST_ELEMENT: usize = 1;
pub(super) const CONST_OUT: usize = 5;
pub(super) const CONST_NAME: usize = 6;
const CONST_INLINE: usize = 7;

/// The word in attribute `at` of `op`.
pub(super) fn word(g: &Graph, op: OpId, at: usize) -> &str {
    match g.attr(op, at) {
        Attr::Str(sym) => g.name(sym),
        _ => "",
    }
}

/// Names of all values, those of inputs as they are.
pub(super) struct Plan {
    /// By value.
    names: Vec<String>,
}

impl Plan {
    pub(super) fn new(g: &Graph) -> Plan {
        let mut names = vec![String::new(); g.value_bound()];
        let mut given = Names::default();
        let set = |names: &mut Vec<String>, given: &mut Names, value: ValueId, own: &str| {
            names[value.index()] = if own.is_empty() {
                String::new()
            } else {
                given.fresh(own)
            };
        };
        for op in g.walk().filter(|&op| g.is::<Input>(op)) {
            set(&mut names, &mut given, g.result(op), word(g, op, 0));
        }
        // Values in one function and beside each other may not share a name; those of two may.
        for op in g.walk() {
            let own = match () {
                () if g.is::<Const>(op) => word(g, op, CONST_OUT),
                () if ops::row(g.def(op)).is_some() => word(g, op, OUT),
                () if g.is::<Func>(op) => {
                    let block = g.block(g.regions(op)[0]);
                    for (value, name) in g
                        .arguments(block)
                        .into_iter()
                        .zip(word(g, op, 3).split_ascii_whitespace())
                    {
                        names[value.index()] = name.trim_end_matches(":state").to_owned();
                    }
                    continue;
                }
                () => continue,
            };
            let mut own = own.split_ascii_whitespace();
            for value in g.results(op) {
                let own = own.next().unwrap_or("");
                if is_name(own) {
                    names[value.index()] = own.to_owned();
                    given.take(own);
                }
            }
        }
        for op in g.walk() {
            if !g.is::<Const>(op) && ops::row(g.def(op)).is_none() {
                continue;
            }
            let what = g.def(op).short_name();
            for value in g.results(op) {
                if names[value.index()].is_empty() {
                    names[value.index()] = given.fresh(&format!("{what}_{}", g.label(value)));
                }
            }
            let mut blocks = word(g, op, OUT).split('|').skip(1);
            for &region in g.regions(op) {
                let own = blocks.next().unwrap_or("").split_ascii_whitespace();
                let arguments = g.arguments(g.block(region));
                for (value, own) in arguments.into_iter().zip(own) {
                    if is_name(own) {
                        names[value.index()] = own.to_owned();
                    }
                }
                for value in arguments {
                    if names[value.index()].is_empty() {
                        names[value.index()] = given.fresh(&format!("arg_{}", g.label(value)));
                    }
                }
            }
        }
        Plan { names }
    }

    /// The name of a value.
    pub(super) fn name(&self, value: ValueId) -> &str {
        &self.names[value.index()]
    }

    /// What the attribute `name` says: what it was read with, or the name that was chosen here.
    pub(super) fn annotation<'p>(
        &'p self,
        g: &'p Graph,
        op: OpId,
        out: usize,
        name: usize,
    ) -> Option<&'p str> {
        let own = word(g, op, name);
        match (word(g, op, out).is_empty(), own.is_empty()) {
            (_, false) => Some(own),
            (true, true) => g
                .results(op)
                .into_iter()
                .next()
                .map(|value| self.name(value)),
            (false, true) => None,
        }
    }

    /// Whether `op` is a constant that stands where it is read.
    pub(super) fn is_inline(&self, g: &Graph, op: OpId) -> bool {
        g.is::<Const>(op) && g.attr(op, CONST_INLINE) == Attr::Bool(true)
    }
}
