//! Building a fused op from ops of the module.

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::{Op, Trait};
use mind_ir::{BlockId, OpId, Ty, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::context::Context;

/// What a fused op is to hold.
pub(crate) struct Body<'a> {
    /// Ops of the module, each after those it reads.
    pub(crate) ops: &'a [OpId],
    /// The op before which the fused one is to stand.
    pub(crate) before: OpId,
}

/// Inserts an empty fused op of `kind` over `operands` with `results` results, which still have no
/// types; gives it and its block, whose arguments are typed.
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

/// Ends the block of a fused op with these values, whose types its results have; gives the end.
pub(crate) fn finish(g: &mut Graph, op: OpId, block: BlockId, yielded: &[ValueId]) -> OpId {
    let span = g.span(op);
    let end = NewOp {
        def: Yield::DEF,
        operands: yielded,
        attrs: &[],
        results: 0,
        span,
    };
    let end = g.insert(InsertPoint::End(block), end);
    let types: SmallVec<[Ty; 2]> = yielded
        .iter()
        .map(|&value| g.type_id(value).expect("a built value has a type"))
        .collect();
    g.set_types(op, &types);
    end
}

/// Moves the body's ops into a fused op of `kind`. Values read elsewhere become its results, under their
/// labels; splat constants that nothing else reads move in too.
pub(crate) fn build(g: &mut Graph, cx: &Context<'_>, kind: &str, body: &Body<'_>) {
    let member = |value: ValueId, g: &Graph| {
        g.defining_op(value)
            .is_some_and(|op| body.ops.contains(&op))
    };
    let mut operands: Vec<ValueId> = Vec::new();
    let mut constants: Vec<OpId> = Vec::new();
    for &op in body.ops {
        for &value in g.operands(op) {
            match g.defining_op(value).filter(|&op| moves_in(g, op, body.ops)) {
                Some(constant) if !constants.contains(&constant) => constants.push(constant),
                Some(_) => {}
                None if member(value, g) || operands.contains(&value) => {}
                None => operands.push(value),
            }
        }
    }
    if operands.is_empty() && !constants.is_empty() {
        operands.push(g.result(constants.remove(0)));
    }
    let outputs: Vec<ValueId> = body
        .ops
        .iter()
        .map(|&op| g.result(op))
        .filter(|&value| g.uses(value).any(|(user, _)| !body.ops.contains(&user)))
        .collect();
    let (fused, block) = insert(g, cx, kind, &operands, outputs.len(), body.before);
    let results = g.results(fused);
    for (&inner, outer) in outputs.iter().zip(results) {
        let outside: SmallVec<[(OpId, usize); 4]> = g
            .uses(inner)
            .filter(|(user, _)| !body.ops.contains(user))
            .collect();
        for (user, index) in outside {
            g.set_operand(user, index, outer);
        }
        let (own, fresh) = (g.label(inner), g.label(outer));
        g.set_label(outer, own);
        g.set_label(inner, fresh);
        if let Some(declared) = g.declared(inner) {
            g.declare(outer, declared);
        }
    }
    let end = finish(g, fused, block, &outputs);
    let arguments: FxHashMap<ValueId, ValueId> =
        operands.iter().copied().zip(g.arguments(block)).collect();
    for &op in constants.iter().chain(body.ops) {
        g.move_before(op, end);
        for index in 0..g.operands(op).len() {
            if let Some(&argument) = arguments.get(&g.operands(op)[index]) {
                g.set_operand(op, index, argument);
            }
        }
    }
}

/// Whether `op` is a splat or scalar constant that only `readers` read.
fn moves_in(g: &Graph, op: OpId, readers: &[OpId]) -> bool {
    let scalar = |attr: &Attr<'_>| match attr {
        Attr::Literal(literal) => literal.is_splat() || literal.count == Some(1),
        _ => true,
    };
    g.def(op).has(Trait::Constant)
        && g.attrs(op).iter().all(scalar)
        && g.uses(g.result(op))
            .all(|(user, _)| readers.contains(&user))
}
