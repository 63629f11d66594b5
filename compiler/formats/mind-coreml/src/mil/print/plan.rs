//! Names of printed values.

use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use mind_mil::structure::{Const, Func, Input};
use mind_mil::{Attributes, ops};

use crate::mil::names::{Names, is_name};

/// The names of all values. Inputs keep theirs.
pub(super) struct Plan {
    /// Names indexed by value.
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
        for input in g.walk().filter_map(|op| g.view::<Input>(op)) {
            let own = g.name(input.name(g));
            set(&mut names, &mut given, input.result(g), own);
        }
        // Names must be unique within a function, but values of different functions may share one.
        for op in g.walk() {
            if let Some(func) = g.view::<Func>(op) {
                for (index, value) in g.arguments(func.body(g)).into_iter().enumerate() {
                    names[value.index()] = func.parameter(g, index).0.to_owned();
                }
                continue;
            }
            let Some(Written { out: own, .. }) = written(g, op) else {
                continue;
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
            let Some(written) = written(g, op) else {
                continue;
            };
            let what = g.def(op).short_name();
            for value in g.results(op) {
                if names[value.index()].is_empty() {
                    names[value.index()] = given.fresh(&format!("{what}_{}", g.label(value)));
                }
            }
            let mut blocks = written.out.split('|').skip(1);
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

    /// Returns the name of a value.
    pub(super) fn name(&self, value: ValueId) -> &str {
        &self.names[value.index()]
    }

    /// Returns the value of the attribute `name`: the one that was read, or the name chosen here for an op without any
    /// names. Returns `None` if the op was read without the attribute.
    pub(super) fn annotation<'p>(&'p self, g: &'p Graph, op: OpId) -> Option<&'p str> {
        let written = written(g, op)?;
        match (written.out.is_empty(), written.annotation.is_empty()) {
            (_, false) => Some(written.annotation),
            (true, true) => g
                .results(op)
                .into_iter()
                .next()
                .map(|value| self.name(value)),
            (false, true) => None,
        }
    }
}

/// The names that an op was read with.
struct Written<'g> {
    out: &'g str,
    annotation: &'g str,
}

/// Returns the names of a constant or of a MIL op.
fn written(g: &Graph, op: OpId) -> Option<Written<'_>> {
    if let Some(own) = g.view::<Const>(op) {
        return Some(Written {
            out: g.name(own.out(g)),
            annotation: g.name(own.name(g)),
        });
    }
    ops::row(g.def(op))?;
    let own = Attributes::of(g, op);
    Some(Written {
        out: own.out,
        annotation: own.name,
    })
}
