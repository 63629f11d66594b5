//! Bodies of kernels: scalar ops at every position of a nest.

use std::collections::HashSet;

use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::verify::VerifyError;
use mind_ir::{BlockId, OpId, ValueId};

use crate::ops::contract::Product;
use crate::ops::convert::Convert;
use crate::ops::nest::Along;
use crate::ops::window::Taps;

/// Whether an op of this kind computes scalars from scalars at one position alone.
pub fn is_scalar_op(def: &'static OpDef) -> bool {
    def.has(Trait::Elementwise) || def.has(Trait::Constant) || std::ptr::eq(def, Convert::DEF)
}

/// Whether an op of this kind combines many positions, and stands only in a body.
pub fn is_primitive(def: &'static OpDef) -> bool {
    [Along::DEF, Product::DEF, Taps::DEF]
        .iter()
        .any(|own| std::ptr::eq(*own, def))
}

/// Checks that `body` holds scalar ops, and of the others only `own`.
///
/// Errors: E4021 another op, E3002 a result that is no scalar.
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
/// Errors: no code; the graph's own form is broken.
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

/// The values of a body that do not vary along the reduced dimension, given whether its arguments do not.
pub fn uniform(g: &Graph, body: BlockId, is_uniform: impl Fn(usize) -> bool) -> HashSet<ValueId> {
    let arguments = g.arguments(body).into_iter().enumerate();
    let mut known: HashSet<ValueId> = arguments
        .filter(|&(index, _)| is_uniform(index))
        .map(|(_, value)| value)
        .collect();
    for op in g.ops(body) {
        let is_along = std::ptr::eq(g.def(op), Along::DEF);
        if is_along || g.operands(op).iter().all(|value| known.contains(value)) {
            known.extend(g.results(op));
        }
    }
    known
}
