//! The inverse of fusing: inlines the bodies of fused ops.

use mind_ir::OpId;
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;

/// Inlines the body of every op of `fused` in the module's body, including nested ones. Returns the number of inlined
/// ops.
///
/// Results keep their labels and declared types. The module must be verified, and stays valid.
pub fn unfuse(g: &mut Graph, fused: &'static OpDef) -> usize {
    let is_fused = |g: &Graph, op: OpId| std::ptr::eq(g.def(op), fused);
    let body = g.body();
    let mut open: Vec<OpId> = g.ops(body).filter(|&op| is_fused(g, op)).collect();
    let mut inlined = 0;
    while let Some(op) = open.pop() {
        let (ops, _) = g.inline(op);
        open.extend(ops.into_iter().filter(|&op| is_fused(g, op)));
        inlined += 1;
    }
    inlined
}
