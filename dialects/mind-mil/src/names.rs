//! Names for values that have none.

use mind_ir::graph::Graph;
use mind_ir::{BlockId, OpId, ValueId};
use rustc_hash::FxHashSet;

use crate::call::argument_at;
use crate::check::{argument_names, block_names, written_names};
use crate::ops;
use crate::row::Attributes;
use crate::structure::Const;

/// Gives each value that has no name one that says what it is, and writes it beside the op too: a constant is
/// called after the first argument that it is given to, everything else after its op, an argument of a block `arg`.
pub fn assign_names(g: &mut Graph) {
    let all: Vec<OpId> = g.walk().collect();
    let mut taken: FxHashSet<String> = all
        .iter()
        .flat_map(|&op| written_names(g, op))
        .chain(all.iter().flat_map(|&op| argument_names(g, op)))
        .map(str::to_owned)
        .collect();
    for op in all {
        if let Some(constant) = g.view::<Const>(op) {
            name_constant(g, constant, &mut taken);
        } else if ops::row(g.def(op)).is_some() {
            name_results(g, op, &mut taken);
        }
    }
}

/// `what` and the number of `value`, as a name that was not given yet.
fn fresh(g: &Graph, what: &str, value: ValueId, taken: &mut FxHashSet<String>) -> String {
    let mut name = format!("{what}_{}", g.label(value));
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

fn name_constant(g: &mut Graph, constant: Const, taken: &mut FxHashSet<String>) {
    if constant.inline(g) || !g.name(constant.out(g)).is_empty() {
        return;
    }
    let value = constant.result(g);
    let what = first_argument(g, value).to_owned();
    let name = fresh(g, &what, value, taken);
    constant.set_names(g, [&name, &name]);
}

/// Names the results of `op`, and the arguments of its blocks.
fn name_results(g: &mut Graph, op: OpId, taken: &mut FxHashSet<String>) {
    let written: Vec<String> = written_names(g, op).map(str::to_owned).collect();
    let (what, annotation) = (
        g.def(op).short_name(),
        Attributes::of(g, op).name.to_owned(),
    );
    let results = match written.is_empty() {
        true => {
            let values = g.results(op).into_iter();
            let names = values.map(|value| fresh(g, what, value, taken));
            names.collect()
        }
        false => written.clone(),
    };
    let mut out = results.join(" ");
    let blocks: Vec<BlockId> = g.regions(op).iter().map(|&own| g.block(own)).collect();
    if blocks.iter().any(|&block| !g.arguments(block).is_empty()) {
        for (at, block) in blocks.into_iter().enumerate() {
            let own: Vec<String> = block_names(g, op, at).map(str::to_owned).collect();
            out.push_str(" |");
            for (index, value) in g.arguments(block).into_iter().enumerate() {
                let name = own.get(index).cloned();
                let name = name.unwrap_or_else(|| fresh(g, "arg", value, taken));
                out.push(' ');
                out.push_str(&name);
            }
        }
    }
    if out.is_empty() || out == Attributes::of(g, op).out {
        return;
    }
    let annotation = match written.is_empty() {
        true => results.first().map_or("", String::as_str),
        false => &annotation,
    };
    Attributes::set_names(g, op, [&out, annotation]);
}

/// The argument that a value is given to first.
fn first_argument(g: &Graph, value: ValueId) -> &str {
    let first = g.uses(value).last();
    first.map_or("const", |(user, index)| {
        argument_at(g, user, index).unwrap_or("const")
    })
}
