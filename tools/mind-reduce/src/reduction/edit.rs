//! Edits of a copy of a module.

use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};

/// A change of a module. Ids are those of the module that it was proposed for. The result may be invalid, because
/// candidates are verified.
pub(crate) type Edit = Box<dyn Fn(&mut Graph)>;

/// Creates an edit.
pub(crate) fn edit(change: impl Fn(&mut Graph) + 'static) -> Edit {
    Box::new(change)
}

/// Returns a copy of `g` after `edit`, without ops that have become dead.
pub(crate) fn without_new_dead_ops(g: &Graph, edit: &Edit) -> Graph {
    let mut changed = g.clone();
    edit(&mut changed);
    let ops: Vec<OpId> = changed.walk().collect();
    for &op in ops.iter().rev() {
        let known = op.index() < g.op_bound() && g.parent(op).is_some();
        let stays = known && is_unread(g, op);
        if changed.parent(op).is_some()
            && is_unread(&changed, op)
            && is_removable(&changed, op)
            && !stays
        {
            changed.erase(op);
        }
    }
    changed
}

/// Returns whether all results of `op` are unused.
pub(crate) fn is_unread(g: &Graph, op: OpId) -> bool {
    let mut results = g.results(op).iter();
    results.all(|value| g.uses(value).is_empty())
}

fn is_removable(g: &Graph, op: OpId) -> bool {
    let def = g.def(op);
    def.has(Trait::Pure) || def.has(Trait::Interface)
}

/// Returns the ops that compute something, including those in bodies, in order.
pub(crate) fn computing(g: &Graph) -> Vec<OpId> {
    let computes = |&op: &OpId| {
        let def = g.def(op);
        !def.has(Trait::DeclaresType) && !def.has(Trait::Terminator)
    };
    g.walk().filter(computes).collect()
}

/// Returns the values that can replace `value` because they have its type and dominate it: operands of its op, then
/// arguments of its block.
pub(crate) fn stand_ins(g: &Graph, value: ValueId) -> Vec<ValueId> {
    let Some(op) = g.defining_op(value) else {
        return Vec::new();
    };
    let arguments = g
        .parent(op)
        .map(|block| g.arguments(block))
        .unwrap_or_default();
    let mut found: Vec<ValueId> = Vec::new();
    for candidate in g.operands(op).iter().copied().chain(arguments) {
        if g.type_id(candidate) == g.type_id(value) && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}
