//! Ops of constants alone, computed when importing.

use mind_ir::attr::Literal;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TensorType};
use mind_ir::{OpId, ValueId};
use mind_mil::Element;
use mind_mil::structure::Const;

use crate::emit::Emit;
use crate::refuse::Refused;

/// The most bytes that one constant may take when computed.
const LIMIT: u64 = 1 << 28;

/// What an op of constants alone computes, as constants of MIL; none for an op that reads anything else, or
/// that has no evaluation.
///
/// Errors: an evaluation that fails.
pub(crate) fn folded(op: OpId, e: &mut Emit<'_>) -> Result<Option<Vec<ValueId>>, Box<Refused>> {
    let Some(results) = mind_mil::fold::folded(e.g(), op, LIMIT) else {
        return Ok(None);
    };
    let constants = results?.into_iter().map(|result| constant(e, &result));
    Ok(Some(constants.collect()))
}

/// A constant of MIL.
fn constant(e: &mut Emit<'_>, tensor: &Tensor) -> ValueId {
    let bytes = tensor.buffer().to_bytes();
    let literal = Literal {
        dtype: tensor.dtype(),
        count: Some(tensor.count()),
        bytes: &bytes,
    };
    let shape = tensor
        .shape()
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64));
    let g = &mut *e.b.graph;
    let ty = g.intern_type(TensorType::new(tensor.dtype(), shape).view());
    let (element, none) = (g.intern(Element::of(tensor.dtype()).name()), g.intern(""));
    let attrs = Const::attrs(&literal, element, none, none, 0, none, none, false);
    let op = e.b.create_typed(Const::DEF, &[], &attrs, &[ty]);
    e.g().result(op)
}
