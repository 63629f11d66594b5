//! Bodies of ops under construction.

use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_ir::{BlockId, OpId, Ty, ValueId};
use smallvec::SmallVec;

/// Appends the terminator of a fused op's block, yielding these values of the types of the op's results; returns it.
pub fn end_body(g: &mut Graph, op: OpId, block: BlockId, yielded: &[ValueId]) -> OpId {
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
