//! Assigns names to unnamed values.

use mind_ir::graph::Graph;
use mind_ir::{BlockId, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::call::argument_at;
use crate::check::{argument_names, block_names, given_name, is_name, written_names};
use crate::ops;
use crate::structure::Const;
use crate::{Attributes, Element};

/// Names each value that has no name, on its op too: an output gets the name in the module's interface, a constant is
/// named after the first parameter that it is passed to, an argument of a block is called `arg`, and everything else is
/// named after its op.
pub fn assign_names(g: &mut Graph) {
    let all: Vec<OpId> = g.walk().collect();
    let mut taken: FxHashSet<String> = all
        .iter()
        .flat_map(|&op| written_names(g, op))
        .chain(all.iter().flat_map(|&op| argument_names(g, op)))
        .map(str::to_owned)
        .collect();
    let outputs = output_names(g, &mut taken);
    let mut names = Names { taken, outputs };
    for op in all {
        if let Some(constant) = g.view::<Const>(op) {
            name_constant(g, constant, &mut names);
        } else if ops::row(g.def(op)).is_some() {
            name_results(g, op, &mut names);
        }
    }
}

/// The names in use, and the names reserved for outputs.
struct Names {
    taken: FxHashSet<String>,
    outputs: FxHashMap<ValueId, String>,
}

impl Names {
    /// Returns the name of an output; for another value a unique name made of `what` and its number.
    fn of(&mut self, g: &Graph, what: &str, value: ValueId) -> String {
        if let Some(name) = self.outputs.get(&value) {
            return name.clone();
        }
        let mut name = format!("{what}_{}", g.label(value));
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// Returns the names of outputs as their values can have them, and renames the outputs of the interface accordingly.
///
/// The output of a classifier's probabilities keeps its name, because a package uses it for the result computed from
/// the value.
fn output_names(g: &mut Graph, taken: &mut FxHashSet<String>) -> FxHashMap<ValueId, String> {
    let classifier = g.interface.classifier.as_ref();
    let kept = classifier.map(|own| own.probabilities.clone());
    taken.extend(
        classifier
            .into_iter()
            .flat_map(|own| [own.label.clone(), own.probabilities.clone()]),
    );
    let outputs = g.outputs().iter();
    let outputs: Vec<_> = outputs
        .map(|&value| (value, given_name(g, value)))
        .collect();
    let mut names = FxHashMap::default();
    for ((value, given), output) in outputs.into_iter().zip(&mut g.interface.outputs) {
        if given.is_some() {
            continue;
        }
        if let Some(name) = output
            .name
            .as_mut()
            .filter(|own| Some(&**own) != kept.as_ref())
        {
            *name = legal(name, taken);
            names.insert(value, name.clone());
        }
    }
    names
}

/// Returns an unused name similar to `wanted`, of letters, digits and `_`.
pub fn legal(wanted: &str, taken: &mut FxHashSet<String>) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '_'
        }
    };
    let mut own: String = wanted.chars().map(letter).collect();
    if !is_name(&own) || Element::parse(&own).is_some() || RESERVED.contains(&own.as_str()) {
        own.insert_str(0, "var_");
    }
    let mut unique = own.clone();
    for suffix in 0.. {
        if taken.insert(unique.clone()) {
            break;
        }
        unique = format!("{own}_{suffix}");
    }
    unique
}

/// Reserved words of the text other than element types.
const RESERVED: [&str; 13] = [
    "any", "program", "func", "tensor", "list", "dict", "tuple", "true", "false", "state", "const",
    "inf", "nan",
];

fn name_constant(g: &mut Graph, constant: Const, names: &mut Names) {
    if constant.inline(g) || !g.name(constant.out(g)).is_empty() {
        return;
    }
    let value = constant.result(g);
    let what = first_argument(g, value).to_owned();
    let name = names.of(g, &what, value);
    constant.set_names(g, [&name, &name]);
}

/// Names the results of `op`, and the arguments of its blocks.
fn name_results(g: &mut Graph, op: OpId, names: &mut Names) {
    let written: Vec<String> = written_names(g, op).map(str::to_owned).collect();
    let (what, annotation) = (
        g.def(op).short_name(),
        Attributes::of(g, op).name.to_owned(),
    );
    let results = match written.is_empty() {
        true => {
            let values = g.results(op).into_iter();
            values.map(|value| names.of(g, what, value)).collect()
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
                let name = name.unwrap_or_else(|| names.of(g, "arg", value));
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

/// Returns the argument for which a value is first used.
fn first_argument(g: &Graph, value: ValueId) -> &str {
    let first = g.uses(value).last();
    first.map_or("const", |(user, index)| {
        argument_at(g, user, index).unwrap_or("const")
    })
}
