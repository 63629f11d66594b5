//! Fewer outputs, and outputs that are computed earlier.

use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};

use super::edit::{Edit, edit, is_unread};

/// Proposes to drop half of the outputs, then a quarter, down to single ones.
pub(crate) fn drop_halves(g: &Graph) -> Vec<Edit> {
    let Some(end) = g.terminator(g.body()) else {
        return Vec::new();
    };
    let count = g.operands(end).len();
    let mut edits = Vec::new();
    let mut length = count.div_ceil(2);
    while length > 0 && count > 1 {
        for start in (0..count).step_by(length) {
            edits.push(edit(move |g| {
                let mut outputs = g.operands(end).to_vec();
                outputs.drain(start..(start + length).min(count));
                g.set_outputs(&outputs);
            }));
        }
        length /= 2;
    }
    edits
}

/// Proposes to replace an operand of a terminator by an operand of the op that computes it.
pub(crate) fn peel(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    let ends = |&op: &OpId| g.def(op).has(Trait::Terminator);
    for end in g.walk().filter(ends) {
        for (index, &value) in g.operands(end).iter().enumerate() {
            let op = g
                .defining_op(value)
                .filter(|&op| g.parent(op) == g.parent(end));
            for &operand in op.into_iter().flat_map(|op| g.operands(op)) {
                edits.push(edit(move |g| g.set_operand(end, index, operand)));
            }
        }
    }
    edits
}

/// Proposes to replace an output by an unused value, if the op of the output becomes dead.
pub(crate) fn exchange(g: &Graph) -> Vec<Edit> {
    /// The maximal number of outputs and values that are tried.
    const MOST: usize = 8;
    let Some(end) = g.terminator(g.body()) else {
        return Vec::new();
    };
    let results = g.ops(g.body()).flat_map(|op| g.results(op));
    let unread = results.filter(|&value| g.uses(value).is_empty());
    let unread: Vec<ValueId> = unread.take(MOST).collect();
    let mut edits = Vec::new();
    for (index, &old) in g.operands(end).iter().enumerate().take(MOST) {
        for &value in &unread {
            edits.push(edit(move |g| {
                g.set_operand(end, index, value);
                if let Some(op) = g.defining_op(old).filter(|&op| is_unread(g, op)) {
                    g.erase(op);
                }
            }));
        }
    }
    edits
}
