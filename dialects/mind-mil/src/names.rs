//! Names for values that have none.

use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::call::argument_at;
use crate::check::{given_name, is_name, written_names};
use crate::ops;
use crate::structure::Const;
use crate::{Attributes, Element};

/// Gives each value that has no name one that says what it is, and writes it beside the op too: an output has the name
/// that users of the module know, a constant is called after the first argument that it is given to, everything else
/// after its op.
pub fn assign_names(g: &mut Graph) {
    let all: Vec<OpId> = g.walk().collect();
    let mut taken: FxHashSet<String> = all
        .iter()
        .flat_map(|&op| written_names(g, op))
        .map(str::to_owned)
        .collect();
    let outputs = output_names(g, &mut taken);
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
        let mut name = |value: ValueId| match outputs.get(&value) {
            Some(name) => name.clone(),
            None => fresh(format!("{what}_{}", g.label(value)), &mut taken),
        };
        let names: Vec<String> = g.results(op).into_iter().map(&mut name).collect();
        let joined = names.join(" ");
        let written = [joined.as_str(), &names[0]];
        match constant {
            Some(own) => own.set_names(g, written),
            None => Attributes::set_names(g, op, written),
        }
    }
}

/// The names of outputs as their values can have them, which then are those of the interface too.
///
/// The output of a classifier's probabilities keeps its name, which a package gives to what is made of the value.
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

/// A name like `wanted` that no value has yet, of letters, digits and `_`.
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

/// Words of the text that are no element type and no name.
const RESERVED: [&str; 13] = [
    "any", "program", "func", "tensor", "list", "dict", "tuple", "true", "false", "state", "const",
    "inf", "nan",
];

/// `name`, with as many underscores behind it as it takes until no value has that name.
fn fresh(mut name: String, taken: &mut FxHashSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

/// The argument that a value is given to first.
fn first_argument(g: &Graph, value: ValueId) -> &str {
    let first = g.uses(value).last();
    first.map_or("const", |(user, index)| {
        argument_at(g, user, index).unwrap_or("const")
    })
}
