//! Names of a graph, and the topological order of its nodes.

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::value::Value;
use crate::proto::{GraphProto, NodeProto};

/// The values of the names of a graph.
#[derive(Default)]
pub(crate) struct Scope<'m> {
    values: FxHashMap<&'m str, Value>,
    /// The names without a value because their node was refused.
    refused: FxHashSet<&'m str>,
    left_out: FxHashSet<&'m str>,
    /// The declared ranks of values.
    ranks: FxHashMap<&'m str, usize>,
}

/// The meaning of a name.
pub(crate) enum Named {
    /// A value.
    Value(Value),
    /// An input that a call omits.
    LeftOut,
    /// A result of a refused node.
    Refused,
    /// Undefined.
    Nothing,
}

impl<'m> Scope<'m> {
    pub fn define(&mut self, name: &'m str, value: Value) {
        self.values.insert(name, value);
    }

    pub fn refuse(&mut self, name: &'m str) {
        self.refused.insert(name);
    }

    pub fn leave_out(&mut self, name: &'m str) {
        self.left_out.insert(name);
    }

    pub fn declare_rank(&mut self, name: &'m str, rank: usize) {
        self.ranks.insert(name, rank);
    }

    /// Returns the declared rank of `name`, or the rank of its constant.
    pub fn rank(&self, name: &str) -> Option<usize> {
        let declared = self.ranks.get(name).copied();
        declared.or_else(|| match self.values.get(name)? {
            Value::Known(known) => Some(known.shape.len()),
            Value::Op(_) | Value::Extents(_) => None,
        })
    }

    pub fn get(&self, name: &str) -> Named {
        match self.values.get(name) {
            Some(value) => Named::Value(value.clone()),
            None if self.refused.contains(name) => Named::Refused,
            None if self.left_out.contains(name) => Named::LeftOut,
            None => Named::Nothing,
        }
    }

    /// Returns the value of `name`, if it has one.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }
}

/// Returns the names that a node reads: its inputs, and the outer names that its graphs capture.
pub(crate) fn read_names<'m>(node: &'m NodeProto) -> IndexSet<&'m str> {
    let inputs = node.input.iter().map(|name| &name[..]);
    let mut names: IndexSet<&'m str> = inputs.filter(|name| !name.is_empty()).collect();
    for graph in node.attribute.iter().filter_map(|own| own.g.as_ref()) {
        names.extend(outer_names(graph));
    }
    names
}

/// Returns the outer names that a graph captures.
pub(crate) fn outer_names(graph: &GraphProto) -> IndexSet<&str> {
    let mut own: FxHashSet<&str> = graph.input.iter().map(|input| &input.name[..]).collect();
    own.extend(graph.initializer.iter().map(|tensor| &tensor.name[..]));
    own.extend(
        graph
            .node
            .iter()
            .flat_map(|node| &node.output)
            .map(|name| &name[..]),
    );
    let outputs = graph.output.iter().map(|output| &output.name[..]);
    let read = graph.node.iter().flat_map(read_names).chain(outputs);
    read.filter(|name| !own.contains(name)).collect()
}

/// Returns the nodes that `outputs` depend on in topological order, which is the order of the file where possible.
///
/// # Errors
///
/// The first node on a cycle.
pub(crate) fn ordered<'m>(
    nodes: &'m [NodeProto],
    outputs: impl Iterator<Item = &'m str>,
) -> Result<Vec<&'m NodeProto>, &'m NodeProto> {
    let mut makers: FxHashMap<&str, usize> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        for name in node.output.iter().filter(|name| !name.is_empty()) {
            makers.insert(name, at);
        }
    }
    let needs: Vec<Vec<usize>> = nodes
        .iter()
        .map(|node| {
            let names = read_names(node).into_iter();
            names.filter_map(|name| makers.get(name).copied()).collect()
        })
        .collect();
    let mut needed = vec![false; nodes.len()];
    let mut open: Vec<usize> = outputs
        .filter_map(|name| makers.get(name).copied())
        .collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut needed[at], true) {
            open.extend(&needs[at]);
        }
    }
    // The depth-first search is iterative, because a long chain of nodes would overflow the stack.
    let mut state = vec![State::Open; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let mut path: Vec<(usize, usize)> = Vec::new();
    for start in (0..nodes.len()).filter(|&at| needed[at]) {
        if state[start] == State::Open {
            state[start] = State::Entered;
            path.push((start, 0));
        }
        while let Some((at, next)) = path.last_mut() {
            let Some(&need) = needs[*at].get(*next) else {
                state[*at] = State::Done;
                order.push(&nodes[*at]);
                path.pop();
                continue;
            };
            *next += 1;
            match state[need] {
                State::Open => {
                    state[need] = State::Entered;
                    path.push((need, 0));
                }
                State::Entered => return Err(&nodes[need]),
                State::Done => {}
            }
        }
    }
    Ok(order)
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Entered,
    Done,
}
