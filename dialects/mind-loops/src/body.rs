//! Bodies of kernels: scalar ops at every position of a nest.

use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::verify::VerifyError;
use mind_ir::{BlockId, OpId};

use crate::ops::convert::Convert;

/// Whether an op of this kind computes scalars from scalars at one position alone.
pub(crate) fn is_scalar_op(def: &'static OpDef) -> bool {
    def.has(Trait::Elementwise) || def.has(Trait::Constant) || std::ptr::eq(def, Convert::DEF)
}

/// Checks that `body` holds scalar ops, and of the others only `own`.
///
/// # Errors
///
/// E4021 another op, E3002 a result that is no scalar.
pub(crate) fn check(
    g: &Graph,
    op: &'static str,
    body: BlockId,
    own: &'static OpDef,
    allowed: &'static str,
) -> Result<(), VerifyError> {
    for inner in g.ops(body) {
        let def = g.def(inner);
        if def.has(Trait::Terminator) {
            continue;
        }
        if !is_scalar_op(def) && !std::ptr::eq(def, own) {
            let found = def.name;
            return Err(VerifyError::Body { op, found, allowed });
        }
        let mut results = g.results(inner).into_iter();
        if let Some(value) = results.find(|&v| g.type_id(v).is_some() && g.ty(v).rank() > 0) {
            return Err(VerifyError::Rank {
                op: def.short_name(),
                operand: "a result in the body of a kernel",
                expected: "0".to_owned(),
                found: g.ty(value).rank(),
            });
        }
    }
    Ok(())
}

/// Checks that the body has just one `primitive`, over its first two arguments, and reads those nowhere else.
///
/// # Errors
///
/// No code; the graph's own form is broken.
pub(crate) fn check_single(
    g: &Graph,
    op: &'static str,
    body: BlockId,
    primitive: &'static OpDef,
) -> Result<(), VerifyError> {
    let broken = |problem: String| Err(VerifyError::Structure { problem });
    let name = primitive.name;
    let of_kind = |inner: &OpId| std::ptr::eq(g.def(*inner), primitive);
    let found: Vec<OpId> = g.ops(body).filter(of_kind).collect();
    let &[only] = &found[..] else {
        return broken(format!(
            "the body of `{op}` holds one `{name}`, found {}",
            found.len()
        ));
    };
    let arguments = g.arguments(body);
    let sides = [arguments.get(0), arguments.get(1)];
    if g.operands(only) != sides {
        return broken(format!(
            "`{name}` takes the first two arguments of its body"
        ));
    }
    if sides.iter().any(|&side| !g.uses(side).is_single()) {
        return broken(format!(
            "the first two arguments of the body of `{op}` are read by `{name}` alone"
        ));
    }
    Ok(())
}
