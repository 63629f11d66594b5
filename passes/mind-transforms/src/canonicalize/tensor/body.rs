//! Copies of scalar bodies.

use mind_ir::builder::Builder;
use mind_ir::{BlockId, OpId, ValueId};
use rustc_hash::FxHashMap;

/// Copies the ops of a closed body, with its arguments replaced by `scalars`. Returns the copies of the yielded values.
pub(super) fn copy_body(b: &mut Builder<'_>, body: BlockId, scalars: &[ValueId]) -> Vec<ValueId> {
    let arguments = b.graph.arguments(body).into_iter();
    let mut copies: FxHashMap<ValueId, ValueId> = arguments.zip(scalars.iter().copied()).collect();
    let end = b.graph.terminator(body);
    let ops: Vec<OpId> = b.graph.ops(body).filter(|&op| Some(op) != end).collect();
    for op in ops {
        let operands = b.graph.operands(op).iter();
        let operands: Vec<ValueId> = operands.map(|value| copies[value]).collect();
        let copy = b.copy(op, &operands);
        copies.extend(b.graph.results(op).into_iter().zip(b.graph.results(copy)));
    }
    let yielded = end.map_or(&[][..], |end| b.graph.operands(end));
    yielded.iter().map(|value| copies[value]).collect()
}
