//! Fewer ops.

use mind_core::ops::input::Input;
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::InsertPoint;
use mind_ir::opdef::{Op, Trait};
use mind_ir::{Graph, OpId, ValueId};

use super::edit::{Edit, computing, edit, is_unread, stand_ins};

/// Proposes to replace half of the ops by inputs or by their operands, then a quarter, down to pairs.
pub(crate) fn cut_chunks(g: &Graph) -> Vec<Edit> {
    let mut ops = computing(g);
    ops.reverse();
    let mut edits = Vec::new();
    let mut length = ops.len().div_ceil(2);
    while length > 1 {
        for chunk in ops.chunks(length) {
            let chunk = chunk.to_vec();
            edits.push(edit(move |g| chunk.iter().for_each(|&op| replace(g, op))));
        }
        length /= 2;
    }
    edits
}

/// Proposes to replace a value by an earlier one.
pub(crate) fn bypass(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for &op in computing(g).iter().rev() {
        for value in g.results(op) {
            for earlier in stand_ins(g, value) {
                edits.push(edit(move |g| g.replace_all_uses(value, earlier)));
            }
        }
    }
    edits
}

/// Proposes to replace a value by an input.
pub(crate) fn cut(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for &op in computing(g).iter().rev().filter(|&&op| can_be_input(g, op)) {
        for value in g.results(op) {
            edits.push(edit(move |g| {
                let input = fresh_input(g, value, op);
                g.replace_all_uses(value, input);
            }));
        }
    }
    edits
}

/// Proposes to erase an unused op, also an input or one with side effects.
pub(crate) fn erase(g: &Graph) -> Vec<Edit> {
    let free = |&op: &OpId| is_unread(g, op) && !g.def(op).has(Trait::Terminator);
    let mut ops: Vec<OpId> = g.walk().filter(free).collect();
    ops.reverse();
    ops.into_iter()
        .map(|op| edit(move |g| g.erase(op)))
        .collect()
}

/// Replaces each result of `op` by another value, if possible.
fn replace(g: &mut Graph, op: OpId) {
    for value in g.results(op) {
        let stand_in = stand_ins(g, value).first().copied();
        let stand_in = stand_in.or_else(|| can_be_input(g, op).then(|| fresh_input(g, value, op)));
        if let Some(stand_in) = stand_in {
            g.replace_all_uses(value, stand_in);
        }
    }
}

/// Returns whether the results of an op can become inputs, which are only allowed in the module's own block.
pub(super) fn can_be_input(g: &Graph, op: OpId) -> bool {
    g.parent(op) == Some(g.body())
}

/// Adds an input with the type of `value` before `op`.
pub(super) fn fresh_input(g: &mut Graph, value: ValueId, op: OpId) -> ValueId {
    let Some(ty) = g.type_id(value) else {
        return value;
    };
    let name = fresh_name(g, value);
    let name = g.intern(&name);
    let attrs = Input::attrs(name, false, None);
    let mut builder = Builder::new(g, InsertPoint::Before(op), Span::FILE);
    let input = builder.create_typed(Input::DEF, &[], &attrs, &[ty]);
    g.result(input)
}

/// Returns an unused input name, for example `cut3` for the value that is printed as 3.
fn fresh_name(g: &Graph, value: ValueId) -> String {
    let mut name = format!("cut{}", g.label(value));
    let taken = |name: &str| {
        let own =
            |op: OpId| matches!(g.attrs(op).first(), Some(&Attr::Str(sym)) if g.name(sym) == name);
        g.ops(g.body()).any(|op| g.is::<Input>(op) && own(op))
    };
    while taken(&name) {
        name.push('_');
    }
    name
}
