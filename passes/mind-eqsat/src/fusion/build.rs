//! Builds a fused op from ops of the module.

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, OpId, Ty, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use mind_rewrite::end_body;

use crate::context::Context;

/// The ops that a new fused op will hold.
pub(crate) struct Body<'a> {
    /// Ops of the module, in topological order.
    pub(crate) ops: &'a [OpId],
    /// The op of these before which the fused op is inserted.
    pub(crate) before: OpId,
}

/// Inserts an empty fused op of `kind` over `operands`, with `results` results that have no types yet. Returns the op
/// and its block, whose arguments are typed.
pub(crate) fn insert(
    g: &mut Graph,
    cx: &Context<'_>,
    kind: &str,
    operands: &[ValueId],
    results: usize,
    before: OpId,
) -> (OpId, BlockId) {
    let kind = g.intern(kind);
    let attrs: SmallVec<[Attr<'_>; 1]> = cx.fused.attrs.iter().map(|_| Attr::Str(kind)).collect();
    let span: Span = g.span(before);
    let new = NewOp {
        def: cx.fused,
        operands,
        attrs: &attrs,
        results,
        span,
    };
    let op = g.insert(InsertPoint::Before(before), new);
    let block = g.block(g.regions(op)[0]);
    let arguments = g.add_arguments(block, operands.len());
    for (argument, &operand) in arguments.into_iter().zip(operands) {
        let ty: Ty = g.type_id(operand).expect("a verified value has a type");
        g.set_type(argument, ty);
    }
    (op, block)
}

/// Moves the ops of the body into a new fused op of `kind`, which is returned. Fused ops among them are inlined. Values
/// that are read elsewhere become its results and keep their labels. Splat constants become part of the body.
pub(crate) fn build(g: &mut Graph, cx: &Context<'_>, kind: &str, body: &Body<'_>) -> OpId {
    let inside = |g: &Graph, value: ValueId| {
        let op = g.defining_op(value);
        op.is_some_and(|op| body.ops.contains(&op))
    };
    let mut operands: Vec<ValueId> = Vec::new();
    let mut constants: Vec<ValueId> = Vec::new();
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    for &op in body.ops {
        for &value in g.operands(op) {
            let list = if is_copied_along(g, value) {
                &mut constants
            } else {
                &mut operands
            };
            if !inside(g, value) && seen.insert(value) {
                list.push(value);
            }
        }
    }
    if operands.is_empty() && !constants.is_empty() {
        operands.push(constants.remove(0));
    }
    let leaves = |(user, _): (OpId, usize)| !body.ops.contains(&user);
    let defined = body.ops.iter().flat_map(|&op| g.results(op));
    let mut outputs: Vec<ValueId> = defined.filter(|&value| g.uses(value).any(leaves)).collect();
    let (fused, block) = insert(g, cx, kind, &operands, outputs.len(), body.before);
    for (&inner, outer) in outputs.iter().zip(g.results(fused)) {
        let outside: SmallVec<[(OpId, usize); 4]> =
            g.uses(inner).filter(|&at| leaves(at)).collect();
        for (user, index) in outside {
            g.set_operand(user, index, outer);
        }
        g.swap_labels(outer, inner);
        if let Some(declared) = g.declared(inner) {
            g.declare(outer, declared);
        }
    }
    let mut within: FxHashMap<ValueId, ValueId> =
        operands.iter().copied().zip(g.arguments(block)).collect();
    let mut ops: Vec<OpId> = Vec::new();
    for &value in &constants {
        let (op, inner) = constant(g, value, body.ops, fused);
        within.insert(value, inner);
        ops.push(op);
    }
    for &op in body.ops {
        if !std::ptr::eq(g.def(op), cx.fused) {
            ops.push(op);
            continue;
        }
        let results = g.results(op);
        let (held, now) = g.inline(op);
        ops.extend(held);
        for output in &mut outputs {
            if let Some(index) = results.iter().position(|result| result == *output) {
                *output = now[index];
            }
        }
    }
    let end = end_body(g, fused, block, &outputs);
    for &op in &ops {
        g.move_before(op, end);
    }
    for &op in ops.iter().chain(&[end]) {
        for index in 0..g.operands(op).len() {
            if let Some(&inner) = within.get(&g.operands(op)[index]) {
                g.set_operand(op, index, inner);
            }
        }
    }
    fused
}

/// Returns whether `value` is a splat or scalar constant, of which each group that reads it has its own copy.
pub(crate) fn is_copied_along(g: &Graph, value: ValueId) -> bool {
    let scalar = |attr: &Attr<'_>| match attr {
        Attr::Literal(literal) => literal.is_splat() || literal.count == Some(1),
        _ => true,
    };
    g.defining_op(value)
        .is_some_and(|op| g.def(op).has(Trait::Constant) && g.attrs(op).iter().all(scalar))
}

/// Returns the constant `value` for the group of `readers`: its own op if nothing else reads it, else a copy before
/// `at`.
fn constant(g: &mut Graph, value: ValueId, readers: &[OpId], at: OpId) -> (OpId, ValueId) {
    let op = g.defining_op(value).expect("a constant has an op");
    if g.uses(value).all(|(user, _)| readers.contains(&user)) {
        return (op, value);
    }
    let copy = g.copy(InsertPoint::Before(at), op, &[]);
    (copy, g.result(copy))
}
