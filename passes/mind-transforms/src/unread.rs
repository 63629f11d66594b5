//! Removal of unused results of fused ops.

use mind_ir::attr::Attr;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::{OpId, ValueId};
use smallvec::SmallVec;

use mind_rewrite::end_body;

/// Removes the unused results of all `fused` ops in the module's body, and the ops of their bodies that only these
/// results need. Returns the number of removed results. An op without any used result is unchanged.
pub(crate) fn drop_unread(g: &mut Graph, fused: &'static OpDef) -> usize {
    let ops: Vec<OpId> = g.ops(g.body()).collect();
    let mut dropped = 0;
    // Users first, because removing a result may leave other results without uses.
    for op in ops.into_iter().rev() {
        let read = |value: &ValueId| !g.uses(*value).is_empty();
        let results: SmallVec<[ValueId; 4]> = g.results(op).into_iter().collect();
        let kept = results.iter().filter(|value| read(value)).count();
        if std::ptr::eq(g.def(op), fused) && kept > 0 && kept < results.len() {
            rebuild(g, op, fused);
            dropped += results.len() - kept;
        }
    }
    dropped
}

/// Replaces `op` by an op with only the used results.
fn rebuild(g: &mut Graph, op: OpId, fused: &'static OpDef) {
    let old = g.block(g.regions(op)[0]);
    let end = g.terminator(old).expect("a verified body ends");
    let results: SmallVec<[ValueId; 4]> = g.results(op).into_iter().collect();
    let yielded: SmallVec<[ValueId; 4]> = g.operands(end).into();
    let read = |at: &usize| !g.uses(results[*at]).is_empty();
    let kept: SmallVec<[usize; 4]> = (0..results.len()).filter(read).collect();
    let yielded: SmallVec<[ValueId; 4]> = kept.iter().map(|&at| yielded[at]).collect();
    g.set_operands(end, &yielded);
    let inner: Vec<OpId> = g.ops(old).filter(|&inner| inner != end).collect();
    let dead = |g: &Graph, inner: OpId| {
        let mut results = g.results(inner).into_iter();
        g.def(inner).has(Trait::Pure) && results.all(|value| g.uses(value).is_empty())
    };
    let mut body: Vec<OpId> = Vec::with_capacity(inner.len());
    for inner in inner.into_iter().rev() {
        if dead(g, inner) {
            g.erase(inner)
        } else {
            body.push(inner)
        }
    }
    let arguments: SmallVec<[ValueId; 4]> = g.arguments(old).into_iter().collect();
    let needed = |at: &usize| !g.uses(arguments[*at]).is_empty();
    let needed: SmallVec<[usize; 4]> = (0..arguments.len()).filter(needed).collect();
    let operands: SmallVec<[ValueId; 4]> = needed.iter().map(|&at| g.operands(op)[at]).collect();
    let attrs: SmallVec<[Attr<'_>; 1]> = g.attrs(op).iter().map(owned).collect();
    let new = NewOp {
        def: fused,
        operands: &operands,
        attrs: &attrs,
        results: kept.len(),
        span: g.span(op),
    };
    let op_now = g.insert(InsertPoint::Before(op), new);
    let block = g.block(g.regions(op_now)[0]);
    let fresh = g.add_arguments(block, operands.len());
    for (&at, argument) in needed.iter().zip(fresh) {
        let ty = g
            .type_id(arguments[at])
            .expect("a verified value has a type");
        g.set_type(argument, ty);
        g.swap_labels(argument, arguments[at]);
        g.replace_all_uses(arguments[at], argument);
    }
    let end = end_body(g, op_now, block, &yielded);
    for inner in body.into_iter().rev() {
        g.move_before(inner, end);
    }
    for (&at, now) in kept.iter().zip(g.results(op_now)) {
        g.swap_labels(now, results[at]);
        if let Some(declared) = g.declared(results[at]) {
            g.declare(now, declared);
        }
        g.replace_all_uses(results[at], now);
    }
    g.erase(op);
}

/// Copies an attribute of a fused op, which is a name.
fn owned(attr: &Attr<'_>) -> Attr<'static> {
    match attr {
        Attr::Str(name) => Attr::Str(*name),
        _ => unreachable!("a fused op has one attribute, its kind"),
    }
}
