//! Replacement of ops by values.

use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};

/// Replaces the result of `op` by `value`, and erases `op` and constants that become dead. A fresh value inherits the
/// type and label.
pub(crate) fn replace(g: &mut Graph, op: OpId, value: ValueId, fresh: bool) {
    let old = g.result(op);
    let ty = g.type_id(old).expect("a verified value has a type");
    if fresh {
        let declared = g.declared(old);
        if let Some(declared) = declared.or((g.type_id(value) != Some(ty)).then_some(ty)) {
            g.declare(value, declared);
        }
        g.set_type(value, ty);
        g.swap_labels(old, value);
    }
    g.replace_all_uses(old, value);
    let operands = g.operands(op).to_vec();
    g.erase(op);
    for operand in operands {
        let unread = g.uses(operand).is_empty();
        if let Some(source) = g.defining_op(operand).filter(|_| unread)
            && g.parent(source).is_some()
            && g.def(source).has(Trait::Constant)
        {
            g.erase(source);
        }
    }
}
