//! Names for values that have none.

use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHashSet;

use crate::call::{NAME, OUT, argument_names, written_arguments};
use crate::check::written_names;
use crate::ops;
use crate::structure::Const;

/// The positions of the names of a constant.
const CONST_OUT: usize = 5;
const CONST_NAME: usize = 6;

/// Gives each value that has no name one that says what it is, and writes it beside the op too: a constant is
/// called after the first argument that it is given to, everything else after its op.
pub fn settle(g: &mut Graph) {
    let all: Vec<OpId> = g.walk().collect();
    let mut taken: FxHashSet<String> = all
        .iter()
        .flat_map(|&op| written_names(g, op))
        .map(str::to_owned)
        .collect();
    for op in all {
        let constant = g.view::<Const>(op);
        if written_names(g, op).next().is_some()
            || g.results(op).is_empty()
            || constant.is_none() && ops::row(g.def(op)).is_none()
            || constant.is_some_and(|own| own.inline(g))
        {
            continue;
        }
        let what = match constant {
            Some(own) => first_argument(g, own.result(g)).to_owned(),
            None => g.def(op).short_name().to_owned(),
        };
        let names: Vec<String> = g
            .results(op)
            .into_iter()
            .map(|value| {
                let mut name = format!("{what}_{}", g.label(value));
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                name
            })
            .collect();
        let (out, label) = match constant {
            Some(_) => (CONST_OUT, CONST_NAME),
            None => (OUT, NAME),
        };
        for (at, text) in [(out, names.join(" ")), (label, names[0].clone())] {
            let text = Attr::Str(g.intern(&text));
            g.set_attr(op, at, text);
        }
    }
}

/// The argument that a value is given to first.
fn first_argument(g: &Graph, value: ValueId) -> &str {
    let Some((user, index)) = g.uses(value).last() else {
        return "const";
    };
    if ops::row(g.def(user)).is_none() {
        return "const";
    }
    let mut end = 0;
    for (name, count) in argument_names(written_arguments(g, user)) {
        end += count;
        if index < end {
            return name;
        }
    }
    "const"
}
