//! Bodies put back in line.

use mind_ir::graph::InsertPoint;
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};

use super::edit::{Edit, edit};

/// An op with a body over its operands is what its body does.
pub(crate) fn inline(g: &Graph) -> Vec<Edit> {
    let flat = |&op: &OpId| {
        let block = g.block(g.regions(op)[0]);
        g.ops(block).all(|inner| g.regions(inner).is_empty())
    };
    let with_body = |&op: &OpId| g.def(op).has(Trait::BodyOverOperands) && g.regions(op).len() == 1;
    let ops: Vec<OpId> = g.walk().filter(with_body).filter(flat).collect();
    ops.into_iter()
        .map(|op| edit(move |g| put_in_line(g, op)))
        .collect()
}

fn put_in_line(g: &mut Graph, op: OpId) {
    let block = g.block(g.regions(op)[0]);
    let mut known: Vec<(ValueId, ValueId)> = g
        .arguments(block)
        .iter()
        .zip(g.operands(op).iter().copied())
        .collect();
    let outer = |known: &[(ValueId, ValueId)], value: ValueId| {
        let found = known.iter().rev().find(|(inner, _)| *inner == value);
        found.map_or(value, |&(_, outer)| outer)
    };
    let inner: Vec<OpId> = g.ops(block).collect();
    for op_inside in inner {
        let operands: Vec<ValueId> = g
            .operands(op_inside)
            .iter()
            .map(|&value| outer(&known, value))
            .collect();
        if g.def(op_inside).has(Trait::Terminator) {
            for (result, &value) in g.results(op).into_iter().zip(&operands) {
                g.replace_all_uses(result, value);
            }
            return;
        }
        let copy = g.copy(InsertPoint::Before(op), op_inside, &operands);
        known.extend(g.results(op_inside).iter().zip(g.results(copy).iter()));
    }
}
