//! Names for values that have none.

use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHashSet;

use crate::call::argument_at;
use crate::check::written_names;
use crate::ops;
use crate::row::Attributes;
use crate::structure::Const;

/// Gives each value that has no name one that says what it is, and writes it beside the op too: a constant is
/// called after the first argument that it is given to, everything else after its op.
pub fn assign_names(g: &mut Graph) {
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
        let joined = names.join(" ");
        let written = [joined.as_str(), &names[0]];
        match constant {
            Some(own) => own.set_names(g, written),
            None => Attributes::set_names(g, op, written),
        }
    }
}

/// The argument that a value is given to first.
fn first_argument(g: &Graph, value: ValueId) -> &str {
    let first = g.uses(value).last();
    first.map_or("const", |(user, index)| {
        argument_at(g, user, index).unwrap_or("const")
    })
}
