//! Splits modules at ops with data-dependent shapes.

use mind_core::ops::input::Input;
use mind_diag::Span;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, Trait};
use mind_ir::{OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A module in three parts, which are run in this order.
pub(crate) struct Cut {
    /// Ops that can be compiled with the known extents; `None` if there are none.
    pub(crate) first: Option<Subgraph>,
    /// Ops with known operand shapes whose results, or values in their regions, have data-dependent shapes.
    pub(crate) evaluated: Vec<OpId>,
    /// Ops that depend on their results, with `?` for the unknown extents; `None` if there are none.
    pub(crate) rest: Option<Subgraph>,
}

/// A part of a module, as a module of its own.
pub(crate) struct Subgraph {
    pub(crate) graph: Graph,
    /// The value of the whole module for each input, including weights.
    pub(crate) inputs: Vec<ValueId>,
    /// The value of the whole module for each output.
    pub(crate) outputs: Vec<ValueId>,
}

/// Splits a verified module whose inputs have known extents; returns `None` if all extents are known.
pub(crate) fn cut(g: &Graph) -> Option<Cut> {
    let live = live(g);
    let is_open = |value: ValueId| g.ty(value).static_shape().is_none();
    let mut closed: FxHashSet<ValueId> = FxHashSet::default();
    let (mut first, mut evaluated, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for op in g.ops(g.body()) {
        let def = g.def(op);
        if def.has(Trait::Terminator) || !live.contains(&op) {
            continue;
        }
        let is_leaf = def.has(Trait::Constant) || g.is::<Input>(op);
        let results = || g.results(op).into_iter();
        if !g.operands(op).iter().all(|value| closed.contains(value)) {
            rest.push(op);
        } else if results().any(is_open) || has_in_regions(g, op, is_open) {
            evaluated.push(op);
        } else {
            closed.extend(results());
            if !is_leaf {
                first.push(op);
            }
        }
    }
    if evaluated.is_empty() && rest.is_empty() {
        return None;
    }
    let later = evaluated.iter().chain(&rest);
    let read = later.flat_map(|&op| g.operands(op)).chain(g.outputs());
    let read: FxHashSet<ValueId> = read.copied().collect();
    let outputs: FxHashSet<ValueId> = g.outputs().iter().copied().collect();
    Some(Cut {
        first: subgraph(g, &first, &read),
        evaluated,
        rest: subgraph(g, &rest, &outputs),
    })
}

/// Returns whether `is_wanted` holds for any value in the regions of an op, at any depth.
pub(crate) fn has_in_regions(g: &Graph, op: OpId, is_wanted: impl Fn(ValueId) -> bool) -> bool {
    let mut inner = vec![op];
    while let Some(op) = inner.pop() {
        for &region in g.regions(op) {
            let block = g.block(region);
            if g.arguments(block).into_iter().any(&is_wanted) {
                return true;
            }
            for op in g.ops(block) {
                if g.results(op).into_iter().any(&is_wanted) {
                    return true;
                }
                inner.push(op);
            }
        }
    }
    false
}

/// Returns the ops that outputs depend on.
fn live(g: &Graph) -> FxHashSet<OpId> {
    let mut live: FxHashSet<OpId> = FxHashSet::default();
    let mut open: Vec<ValueId> = g.outputs().to_vec();
    while let Some(value) = open.pop() {
        let op = g
            .defining_op(value)
            .expect("a module's own block has no arguments");
        if live.insert(op) {
            open.extend(g.operands(op));
        }
    }
    live
}

/// Builds a module of `ops`, in their order, whose outputs are those of their results that are among `wanted`; returns
/// `None` if there are none.
fn subgraph(g: &Graph, ops: &[OpId], wanted: &FxHashSet<ValueId>) -> Option<Subgraph> {
    let results = ops.iter().flat_map(|&op| g.results(op));
    let outputs: Vec<ValueId> = results.filter(|value| wanted.contains(value)).collect();
    if outputs.is_empty() {
        return None;
    }
    let mut graph = g.empty_like();
    let mut inputs = Vec::new();
    let mut copies: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let own: FxHashSet<ValueId> = ops.iter().flat_map(|&op| g.results(op)).collect();
    let mut read: Vec<ValueId> = ops.iter().flat_map(|&op| g.operands(op)).copied().collect();
    read.retain(|value| !own.contains(value));
    read.sort_unstable_by_key(|value| value.index());
    read.dedup();
    for value in read {
        let leaf = g.defining_op(value).filter(|&op| is_leaf(g, op));
        let copy = match leaf {
            Some(op) => {
                let end = InsertPoint::End(graph.body());
                let copy = graph.copy_from(g, end, op, &[]);
                graph.result(copy)
            }
            None => input(g, &mut graph, value),
        };
        if leaf.is_none_or(|op| g.is::<Input>(op)) {
            inputs.push(value);
        }
        copies.insert(value, copy);
    }
    for &op in ops {
        let operands: Vec<ValueId> = g.operands(op).iter().map(|value| copies[value]).collect();
        let end = InsertPoint::End(graph.body());
        let copy = graph.copy_from(g, end, op, &operands);
        copies.extend(g.results(op).into_iter().zip(graph.results(copy)));
    }
    let yielded: Vec<ValueId> = outputs.iter().map(|value| copies[value]).collect();
    graph.append(NewOp {
        def: Yield::DEF,
        operands: &yielded,
        attrs: &[],
        results: 0,
        span: Span::FILE,
    });
    Some(Subgraph {
        graph,
        inputs,
        outputs,
    })
}

fn is_leaf(g: &Graph, op: OpId) -> bool {
    g.def(op).has(Trait::Constant) || g.is::<Input>(op)
}

/// Creates an input for a value that another part computes.
fn input(g: &Graph, graph: &mut Graph, value: ValueId) -> ValueId {
    // The name cannot clash with an input of the module, because identifiers do not start with `%`.
    let name = graph.intern(&format!("%{}", g.label(value)));
    let ty = g.type_id(value).expect("a verified value has a type");
    let attrs = Input::attrs(name, false, None);
    let end = InsertPoint::End(graph.body());
    let mut b = Builder::new(graph, end, Span::FILE);
    let op = b.create_typed(Input::DEF, &[], &attrs, &[ty]);
    graph.result(op)
}
