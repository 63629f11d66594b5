//! Loop-invariant code motion out of scans.

use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::control::{Scan, block, keep_declared, steps};
use mind_core::ops::index::Slice;
use mind_core::ops::shape::{ExpandDims, Reshape, Squeeze, Transpose};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, Trait};
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_rewrite::{MatchFailure, Rewriter};
use rustc_hash::{FxHashMap, FxHashSet};

use super::declare::patterns;

patterns! {
    /// Values that depend only on fixed operands are computed before the scan and become fixed operands.
    LoopInvariant = "loop-invariant" on [Scan] => loop_invariant;
}

/// The size in bytes up to which a value is hoisted even if it is larger than its operands.
const GROWTH: u64 = 1024;

fn loop_invariant(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let view = Scan::from_id(op);
    // Hoisted ops may fail, which they must not if the scan has zero steps.
    if !matches!(steps(view, rw), Ok(Dim::Fixed(1..))) {
        return Err(MatchFailure("the scan may have zero steps"));
    }
    let invariants = Invariants::of(rw, view);
    if invariants.kept.is_empty() {
        return Err(MatchFailure(
            "no op that is worth hoisting is loop-invariant",
        ));
    }
    let body = block(rw, op, 0);
    let arguments: Vec<ValueId> = rw.arguments(body).into_iter().collect();
    let given = rw.operands(op).to_vec();
    let mut outside: FxHashMap<ValueId, ValueId> = arguments
        .iter()
        .copied()
        .zip(given.iter().copied())
        .collect();
    for inner in invariants.sources(rw) {
        let operands = rw.operands(inner).iter().map(|own| outside[own]);
        let operands: Vec<ValueId> = operands.collect();
        let copy = rw.copy(op, inner, &operands);
        outside.extend(rw.results(inner).into_iter().zip(rw.results(copy)));
    }
    let kept = invariants.kept.iter().map(|value| outside[value]);
    let operands: Vec<ValueId> = given.into_iter().chain(kept).collect();
    let lists = [
        view.in_axes(rw).to_vec(),
        view.out_axes(rw).to_vec(),
        view.in_reverse(rw).to_vec(),
        view.out_reverse(rw).to_vec(),
    ];
    let [in_axes, out_axes, in_reverse, out_reverse] = &lists;
    let (carried, scanned) = (view.carried(rw), view.scanned(rw));
    let attrs = Scan::attrs(carried, scanned, in_axes, out_axes, in_reverse, out_reverse);
    let results = rw.results(op).len();
    let names = arguments.iter().chain(&invariants.kept).copied();
    let names: Vec<ValueId> = names.collect();
    let scan = rw.create_with_body(op, Scan::DEF, &operands, &attrs, results, |b, own| {
        let rest = b.graph.ops(body).filter(|op| !invariants.ops.contains(op));
        let rest: Vec<OpId> = rest.collect();
        let inner = names.iter().copied().zip(own.iter().copied());
        keep_declared(b.graph, inner.clone().take(arguments.len()));
        Ok(b.copy_ops(&rest, inner.collect()))
    })?;
    let results: Vec<ValueId> = rw.results(scan).into_iter().collect();
    rw.replace_all(op, &results)
}

/// The loop-invariant ops of a scan.
struct Invariants {
    body: mind_ir::BlockId,
    /// The ops that leave the body.
    ops: FxHashSet<OpId>,
    /// Their results that the remaining body reads.
    kept: Vec<ValueId>,
}

impl Invariants {
    fn of(g: &Graph, view: Scan) -> Invariants {
        let body = block(g, view.id(), 0);
        let candidates = computed_of_fixed(g, view);
        let mut ops: FxHashSet<OpId> = candidates.iter().copied().collect();
        let mut kept = Vec::new();
        // Users first, because an op also leaves the body if all of its users do.
        for &op in candidates.iter().rev() {
            let results = g.results(op).into_iter();
            let stays = |&value: &ValueId| g.uses(value).any(|(reader, _)| !ops.contains(&reader));
            let read: Vec<ValueId> = results.filter(stays).collect();
            if read.is_empty() {
                continue;
            }
            if is_worth_keeping(g, op, &read) {
                kept.extend(read);
            } else {
                ops.remove(&op);
            }
        }
        kept.reverse();
        Invariants { body, ops, kept }
    }

    /// Returns the ops that compute the kept values, in order.
    fn sources(&self, g: &Graph) -> Vec<OpId> {
        let mut needed: FxHashSet<ValueId> = self.kept.iter().copied().collect();
        let ops: Vec<OpId> = g.ops(self.body).collect();
        let mut sources = Vec::new();
        for op in ops.into_iter().rev() {
            if g.results(op)
                .into_iter()
                .any(|value| needed.contains(&value))
            {
                needed.extend(g.operands(op));
                sources.push(op);
            }
        }
        sources.reverse();
        sources
    }
}

/// Returns the ops of a scan that depend only on fixed operands and constants, in order.
fn computed_of_fixed(g: &Graph, view: Scan) -> Vec<OpId> {
    let body = block(g, view.id(), 0);
    let first = view.operands(g).len() - view.fixed(g).len();
    let mut fixed: FxHashSet<ValueId> = g.arguments(body).into_iter().skip(first).collect();
    let is_constant = |value: ValueId| {
        let source = g.defining_op(value);
        source.is_some_and(|source| g.def(source).has(Trait::Constant))
    };
    let mut ops = Vec::new();
    for op in g.ops(body) {
        let (def, operands) = (g.def(op), g.operands(op));
        let is_same = operands
            .iter()
            .all(|&own| fixed.contains(&own) || is_constant(own));
        let reads_fixed = operands.iter().any(|own| fixed.contains(own));
        let has_sizes = g
            .results(op)
            .into_iter()
            .all(|value| bytes(g, value).is_some());
        if def.has(Trait::Pure) && def.regions == 0 && is_same && reads_fixed && has_sizes {
            fixed.extend(g.results(op));
            ops.push(op);
        }
    }
    ops
}

/// Returns whether reading results of an op in each step is cheaper than computing them. It is not for layout-only ops,
/// because they cost nothing, and for results larger than the operands, because computing them takes less bandwidth.
fn is_worth_keeping(g: &Graph, op: OpId, results: &[ValueId]) -> bool {
    let size = |values: &[ValueId]| {
        let sizes = values.iter().map(|&value| bytes(g, value));
        sizes.map(|size| size.unwrap_or(0)).sum::<u64>()
    };
    let is_view = g.is::<Transpose>(op)
        || g.is::<Reshape>(op)
        || g.is::<ExpandDims>(op)
        || g.is::<Squeeze>(op)
        || g.is::<Slice>(op)
        || g.is::<BroadcastTo>(op);
    !is_view && size(results) <= size(g.operands(op)).max(GROWTH)
}

/// Returns the size in bytes of a value; `None` if an extent is unknown.
fn bytes(g: &Graph, value: ValueId) -> Option<u64> {
    let ty = g.ty(value);
    let extents = ty.shape.iter().map(|dim| match dim {
        Dim::Fixed(extent) => u64::try_from(*extent).ok(),
        Dim::Symbol(_) | Dim::Dynamic => None,
    });
    let count: Option<u64> = extents.product();
    Some(count? * ty.dtype.size() as u64)
}
