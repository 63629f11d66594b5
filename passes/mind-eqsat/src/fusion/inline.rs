//! The inverse of fusing: bodies back in line.

use mind_ir::graph::Graph;
use mind_ir::opdef::{OpDef, Trait};
use mind_ir::{OpId, ValueId};

/// Puts the body of every op of `fused` in the module's body where the op stood, bodies inside bodies
/// included. Gives how many ops went.
///
/// Results keep their labels and declared types. The module is verified, and stays so.
pub fn unfuse(g: &mut Graph, fused: &'static OpDef) -> usize {
    let is_fused = |g: &Graph, op: OpId| std::ptr::eq(g.def(op), fused);
    let body = g.body();
    let mut open: Vec<OpId> = g.ops(body).filter(|&op| is_fused(g, op)).collect();
    let mut inlined = 0;
    while let Some(op) = open.pop() {
        let (ops, _) = inline(g, op);
        open.extend(ops.into_iter().filter(|&op| is_fused(g, op)));
        inlined += 1;
    }
    inlined
}

/// Puts the body of `op` where it stands and erases it; gives the ops of the body, and the values that
/// stand for its results now.
pub(crate) fn inline(g: &mut Graph, op: OpId) -> (Vec<OpId>, Vec<ValueId>) {
    let block = g.block(g.regions(op)[0]);
    for (index, argument) in g.arguments(block).into_iter().enumerate() {
        let operand = g.operands(op)[index];
        g.replace_all_uses(argument, operand);
    }
    let end = g.terminator(block).expect("a verified body ends");
    let results: Vec<ValueId> = g.operands(end).to_vec();
    let terminator = |op: &OpId| g.def(*op).has(Trait::Terminator);
    let ops: Vec<OpId> = g.ops(block).filter(|op| !terminator(op)).collect();
    for &inner in &ops {
        g.move_before(inner, op);
    }
    for (index, outer) in g.results(op).into_iter().enumerate() {
        let inner = results[index];
        let own = g.defining_op(inner).is_some_and(|op| ops.contains(&op));
        if own && !results[..index].contains(&inner) {
            let label = g.label(outer);
            g.set_label(inner, label);
            if let Some(declared) = g.declared(outer) {
                g.declare(inner, declared);
            }
        }
        g.replace_all_uses(outer, inner);
    }
    g.erase(op);
    (ops, results)
}
