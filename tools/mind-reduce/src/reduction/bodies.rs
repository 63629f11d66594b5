//! Inlining of bodies.

use mind_core::ops::control::If;
use mind_ir::graph::InsertPoint;
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, Graph, OpId, ValueId};

use super::edit::{Edit, edit};
use super::ops::{can_be_input, fresh_input};

/// Proposes to inline ops with a body over their operands.
pub(crate) fn inline(g: &Graph) -> Vec<Edit> {
    let with_body = |&op: &OpId| g.def(op).has(Trait::BodyOverOperands) && g.regions(op).len() == 1;
    let ops = g.walk().filter(with_body).map(|op| (op, body(g, op, 0)));
    let flat: Vec<(OpId, BlockId)> = ops.filter(|&(_, block)| is_flat(g, block)).collect();
    flat.into_iter()
        .map(|(op, block)| edit(move |g| put_in_place(g, op, block, 0)))
        .collect()
}

/// Proposes to replace control flow by one of its regions, run once: a branch, or a step of a loop. An argument with
/// another type than its operand, for example a slice of a scan, becomes an input.
pub(crate) fn run_once(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for op in g.walk().filter(|&op| g.def(op).arguments.is_some()) {
        let first = usize::from(g.is::<If>(op));
        for region in 0..g.regions(op).len() {
            let block = body(g, op, region);
            if is_flat(g, block) && yields_results(g, op, block) {
                edits.push(edit(move |g| put_in_place(g, op, block, first)));
            }
        }
    }
    edits
}

fn body(g: &Graph, op: OpId, region: usize) -> BlockId {
    g.block(g.regions(op)[region])
}

fn is_flat(g: &Graph, block: BlockId) -> bool {
    g.ops(block).all(|inner| g.regions(inner).is_empty())
}

/// Returns whether a block yields a value for each result of `op`.
fn yields_results(g: &Graph, op: OpId, block: BlockId) -> bool {
    let end = g.terminator(block);
    end.is_some_and(|end| g.operands(end).len() == g.results(op).len())
}

fn same_type(g: &Graph, value: ValueId, other: ValueId) -> bool {
    g.type_id(value) == g.type_id(other)
}

/// Copies the ops of a block to the position of `op`, with the operands of `op` from `first` on as arguments.
fn put_in_place(g: &mut Graph, op: OpId, block: BlockId, first: usize) {
    let operands = g.operands(op)[first..].to_vec();
    let mut known: Vec<(ValueId, ValueId)> = Vec::new();
    let arguments: Vec<ValueId> = g.arguments(block).into_iter().collect();
    for (argument, operand) in arguments.into_iter().zip(operands) {
        let fits = same_type(g, argument, operand) || !can_be_input(g, op);
        let outer = if fits {
            operand
        } else {
            fresh_input(g, argument, op)
        };
        known.push((argument, outer));
    }
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
