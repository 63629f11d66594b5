//! The order of commutative operands.

use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{OpId, ValueId};

/// Orders the operands of commutative ops by ascending value number, as the module's own text shows
/// it: the written number, or the position where numbers are positions. The count of ops changed.
pub(super) fn order_operands(g: &mut Graph) -> usize {
    let positions = g.preamble.positional.then(|| positions(g));
    let key = |g: &Graph, value: ValueId| match &positions {
        Some(positions) => u64::from(positions[value.index()]),
        None => g.label(value),
    };
    let ops: Vec<OpId> = g.walk().collect();
    let mut swapped = 0;
    for op in ops {
        if let (true, &[lhs, rhs]) = (g.def(op).has(Trait::Commutative), g.operands(op))
            && key(g, lhs) > key(g, rhs)
        {
            g.swap_operands(op, 0, 1);
            swapped += 1;
        }
    }
    swapped
}

/// For each value, how many values are defined above it.
fn positions(g: &Graph) -> Vec<u32> {
    let mut positions = vec![0; g.value_bound()];
    let mut next = 0;
    for op in g.walk() {
        for value in g.results(op) {
            positions[value.index()] = next;
            next += 1;
        }
    }
    positions
}
