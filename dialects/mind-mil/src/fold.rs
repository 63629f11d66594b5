//! Constant folding.

use mind_ir::OpId;
use mind_ir::eval::{DimEnv, EvalCx, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::tensor::Tensor;

use crate::call::Call;
use crate::element::Element;
use crate::ops;
use crate::structure::{Const, constant_of};

/// Evaluates an op whose operands are constants, each result within `limit` bytes. Returns `None` for an op with other
/// operands, with weights that were not read, or without evaluation.
///
/// # Errors
///
/// Errors if the evaluation fails.
pub fn folded(g: &Graph, op: OpId, limit: u64) -> Option<EvalManyResult> {
    let row = ops::row(g.def(op))?;
    let eval = row
        .eval
        .filter(|_| row.def.has(Trait::Pure) && row.def.regions == 0)?;
    let operands = g.operands(op).iter();
    let constants: Option<Vec<Const>> = operands.map(|&value| constant_of(g, value)).collect();
    let tensor = |own: Const| match own.element_type(g) {
        Some(Element::String) => Some(Tensor::scalar(0u8)),
        _ => own.tensor(g),
    };
    let tensors: Option<Vec<Tensor>> = constants?.into_iter().map(tensor).collect();
    let tensors = tensors.filter(|tensors| !tensors.is_empty())?;
    let call = Call::bind(row, op, g).ok()?;
    let dims = DimEnv::default();
    let cx = EvalCx {
        tensor_limit: limit,
        ..EvalCx::run(g, &dims)
    };
    Some(eval(&call, &cx, &tensors.iter().collect::<Vec<_>>()))
}
