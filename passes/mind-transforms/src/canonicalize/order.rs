//! The order of commutative operands.

use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{OpId, ValueId};

/// Orders the operands of commutative ops by the position of their definitions, so that the result does not depend on
/// the format and numbers of the module. The arguments of a body come first, followed by results in the order of the
/// ops. Returns the number of ops that changed.
pub(crate) fn order_operands(g: &mut Graph) -> usize {
    let positions = positions(g);
    let ops: Vec<OpId> = g.walk().collect();
    ops.into_iter()
        .filter(|&op| order(g, op, &positions))
        .count()
}

/// Orders the operands of `op` if it is commutative. Returns whether they were swapped.
pub(crate) fn order(g: &mut Graph, op: OpId, positions: &[u32]) -> bool {
    let key = |value: ValueId| positions[value.index()];
    let is_out_of_order = match *g.operands(op) {
        [lhs, rhs] => g.def(op).has(Trait::Commutative) && key(lhs) > key(rhs),
        _ => false,
    };
    if is_out_of_order {
        g.swap_operands(op, 0, 1);
    }
    is_out_of_order
}

/// Returns for each value the number of values that are defined before it.
pub(crate) fn positions(g: &Graph) -> Vec<u32> {
    let mut positions = vec![0; g.value_bound()];
    let mut next = 0;
    for op in g.walk() {
        let blocks = g.regions(op).iter().map(|&region| g.block(region));
        let arguments = blocks.flat_map(|block| g.arguments(block));
        for value in g.results(op).into_iter().chain(arguments) {
            positions[value.index()] = next;
            next += 1;
        }
    }
    positions
}
