//! Evaluation of constants.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::shape_text;

use crate::ops::constant::{ConstF32, ConstF64, ConstI64, ConstTensor};

/// A scalar `i64`.
pub(crate) fn eval_i64(op: ConstI64, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    Ok(Tensor::scalar(op.value(cx.graph)))
}

/// A scalar `f32`.
pub(crate) fn eval_f32(op: ConstF32, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    Ok(Tensor::scalar(op.value(cx.graph) as f32))
}

/// A scalar `f64`.
pub(crate) fn eval_f64(op: ConstF64, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    Ok(Tensor::scalar(op.value(cx.graph)))
}

/// The elements of the data, or one of them at every position of the shape.
pub(crate) fn eval_tensor(
    op: ConstTensor,
    cx: &EvalCx<'_>,
    _: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, ty) = (op.data(cx.graph), cx.graph.ty(op.result(cx.graph)));
    let mut shape = Vec::with_capacity(ty.rank());
    for &dim in ty.shape {
        let extent = cx
            .extent(dim)?
            .and_then(|extent| usize::try_from(extent).ok());
        shape.push(extent.ok_or_else(|| {
            let text = shape_text(ty.shape, cx.graph.symbols());
            EvalError::Shape(format!(
                "a constant of shape {text} has no known element count"
            ))
        })?);
    }
    let count = cx.count(ty.dtype, &shape)?;
    let given = Buffer::from_bytes(data.dtype, data.bytes);
    let elements = match data.is_splat() {
        true => given.splat(count),
        false => given,
    };
    if elements.len() != count {
        let given = elements.len();
        let text = format!("constant data has {given} elements for shape {shape:?}");
        return Err(EvalError::Shape(text));
    }
    Ok(Tensor::new(shape, elements))
}
