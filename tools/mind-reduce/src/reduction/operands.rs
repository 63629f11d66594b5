//! Fewer operands, and fewer different ones.

use mind_ir::{Graph, ValueId};

use super::edit::{Edit, computing, edit};

/// Proposes to drop an operand of a variadic op.
pub(crate) fn drop(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for op in computing(g) {
        let (def, count) = (g.def(op), g.operands(op).len());
        let fewer = count.checked_sub(1);
        if !fewer.is_some_and(|fewer| def.admits_operands(fewer)) || def.has_closed_body() {
            continue;
        }
        for index in (0..count).rev() {
            edits.push(edit(move |g| {
                let mut operands: Vec<ValueId> = g.operands(op).to_vec();
                operands.remove(index);
                g.set_operands(op, &operands);
            }));
        }
    }
    edits
}

/// Proposes to replace an operand by another operand of the same op and type.
pub(crate) fn repeat(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for op in computing(g) {
        let operands = g.operands(op);
        for (index, &value) in operands.iter().enumerate() {
            for &other in operands.iter().filter(|&&other| other != value) {
                if g.type_id(other) == g.type_id(value) {
                    edits.push(edit(move |g| g.set_operand(op, index, other)));
                }
            }
        }
    }
    edits
}
