//! Fused ops.

use mind_core::ops::fused::Fused;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::group::Group;

/// A group in the place of `fused`, with its body as it is.
pub(crate) fn regroup(g: &mut Graph, fused: Fused) -> Group {
    let op = fused.id();
    let operands = g.operands(op).to_vec();
    let new = NewOp {
        def: Group::DEF,
        operands: &operands,
        attrs: &Group::attrs(fused.kind(g)),
        results: g.results(op).len(),
        span: g.span(op),
    };
    let group = Group::from_id(g.insert(InsertPoint::Before(op), new));
    move_body(g, fused, group);
    let (old, new) = (g.results(op), g.results(group.id()));
    old.into_iter()
        .zip(new)
        .for_each(|(old, new)| take_over(g, old, new));
    g.erase(op);
    group
}

fn move_body(g: &mut Graph, fused: Fused, group: Group) {
    let (from, to) = (fused.body(g), group.body(g));
    let old = g.arguments(from);
    let new = g.add_arguments(to, old.len());
    old.into_iter()
        .zip(new)
        .for_each(|(old, new)| take_over(g, old, new));
    let Some(end) = g.terminator(from) else {
        return;
    };
    let yielded = g.operands(end).to_vec();
    let span = g.span(end);
    let new = NewOp {
        def: Yield::DEF,
        operands: &yielded,
        attrs: &[],
        results: 0,
        span,
    };
    let anchor = g.insert(InsertPoint::End(to), new);
    let inner: Vec<OpId> = g.ops(from).filter(|&inner| inner != end).collect();
    inner
        .into_iter()
        .for_each(|inner| g.move_before(inner, anchor));
}

/// Makes `new` what `old` was: its type, its label, and for its readers.
fn take_over(g: &mut Graph, old: ValueId, new: ValueId) {
    let ty = g.type_id(old).expect("a verified value has a type");
    g.set_type(new, ty);
    if let Some(declared) = g.declared(old) {
        g.declare(new, declared);
    }
    g.swap_labels(old, new);
    g.replace_all_uses(old, new);
}
