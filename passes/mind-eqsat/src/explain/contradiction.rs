//! The rules that united two unequal values.

use std::collections::VecDeque;

use egg::{Id, Language};
use mind_ir::tensor::{Buffer, Element};
use mind_ir::with_dtype;
use rustc_hash::FxHashMap;

use crate::egraph::analysis::Data;
use crate::egraph::constants::ConstId;
use crate::egraph::language::{Head, Node};
use crate::egraph::provenance::Origin;
use crate::load::Loaded;
use crate::report::KeptReason;
use mind_rules::RuleIx;

/// Explains why two classes with the data `sides` were united.
///
/// The rules are those on the shortest path of unions between the two constants. If unions alone do not connect them,
/// because operands became equal (congruence), they are the rules of all unions.
pub(crate) fn contradiction(loaded: &Loaded<'_>, sides: [Data; 2]) -> KeptReason {
    let store = &loaded.egraph.analysis.store;
    let values = match sides.map(|side| side.constant) {
        [Some(a), Some(b)] if sides[0].ty == sides[1].ty => {
            let shown = [a, b].map(|constant| element(loaded, constant));
            let ty = store.type_text(sides[0].ty);
            format!("the constants {} and {} of {ty}", shown[0], shown[1])
        }
        _ => {
            let types = sides.map(|side| store.type_text(side.ty));
            format!("values of {} and {}", types[0], types[1])
        }
    };
    let path = match sides.map(|side| side.constant) {
        [Some(a), Some(b)] => path(loaded, a, b),
        _ => None,
    };
    let unions = &loaded.egraph.analysis.provenance.unions;
    let numbers = path.unwrap_or_else(|| (0..unions.len()).collect());
    let mut rules: Vec<RuleIx> = Vec::new();
    for number in numbers {
        if let Origin::Rule(application) = unions[number].origin {
            let rule = loaded
                .egraph
                .analysis
                .provenance
                .application(application)
                .rule;
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    KeptReason::Contradiction { rules, values }
}

/// Returns the first element of a constant as text.
fn element(loaded: &Loaded<'_>, constant: ConstId) -> String {
    fn first<T: Element>(buffer: &Buffer) -> String {
        let elements = T::peek(buffer).unwrap_or_default();
        elements
            .first()
            .map_or_else(String::new, |first| format!("{first:?}"))
    }
    let store = &loaded.egraph.analysis.store;
    let data = &store.constants.get(constant).data;
    with_dtype!(data.dtype(), T => first::<T>(data.buffer()))
}

/// Returns the indices of the unions on the shortest path between two constants; `None` if no path exists.
fn path(loaded: &Loaded<'_>, from: ConstId, to: ConstId) -> Option<Vec<usize>> {
    let egraph = &loaded.egraph;
    // The canonical form of an e-node: ids whose operands became equal give the same one.
    let current = |id: Id| {
        let node = egraph.id_to_node(id).clone();
        node.map_children(|child| egraph.find(child))
    };
    let mut edges: FxHashMap<Node, Vec<(Node, usize)>> = FxHashMap::default();
    for (number, union) in egraph.analysis.provenance.unions.iter().enumerate() {
        let [a, b] = union.sides.map(current);
        edges
            .entry(a.clone())
            .or_default()
            .push((b.clone(), number));
        edges.entry(b).or_default().push((a, number));
    }
    let [from, to] = [from, to].map(|constant| Node::nullary(Head::Const, constant));
    let mut came: FxHashMap<Node, (Node, usize)> = FxHashMap::default();
    let mut queue = VecDeque::from([from.clone()]);
    while let Some(node) = queue.pop_front() {
        if node == to {
            break;
        }
        for (next, number) in edges.get(&node).into_iter().flatten() {
            if *next != from && !came.contains_key(next) {
                came.insert(next.clone(), (node.clone(), *number));
                queue.push_back(next.clone());
            }
        }
    }
    let (mut at, mut path) = (to, Vec::new());
    while let Some((before, number)) = came.get(&at) {
        path.push(*number);
        at = before.clone();
    }
    path.reverse();
    (at == from).then_some(path)
}
