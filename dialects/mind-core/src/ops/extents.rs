//! Values that depend only on extents.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::{check_rank, resolve};
use crate::eval::convert::cast;
use crate::eval::strided;
use crate::extent::{check_extents, text};

ops! {
    /// The index along `axis` at every position, converted from `i64` to `dtype` like `Cast`.
    ///
    /// Shapes: `shape`.
    /// Errors: E3002 rank above 32, E3004 axis out of range, E3006 extent negative, E3011 extent `?`.
    /// Source: this compiler; ONNX `Range`, MIL `range_1d`, StableHLO `iota`.
    Iota = "core.iota" {
        attrs: { dtype "t": ElementType, shape: Dims, axis "ax": Int = 0 },
        traits: [Pure, Extended],
        names: { core: "Iota", mic1: "iota" },
        infer: infer_iota,
        eval: eval_iota,
    }

    /// The extent of `input` along `axis`.
    ///
    /// Shapes: `[]`; the result is `i64`.
    /// Errors: E3004 axis out of range.
    /// Source: this compiler; ONNX `Shape`, MIL `shape`, StableHLO `get_dimension_size`.
    ExtentOf = "core.dim" {
        operands: (input: Any),
        attrs: { axis "ax": Int },
        traits: [Pure, Extended],
        names: { core: "Dim", mic1: "dim" },
        infer: infer_dim,
        eval: eval_dim,
        fold: fold_dim,
    }
}

fn infer_iota(op: Iota, g: &Graph) -> InferResult {
    let shape = op.shape(g);
    check_rank("iota", shape.len())?;
    check_extents(g, shape)?;
    resolve("iota", op.axis(g), shape.len())?;
    if let Some(dimension) = shape.iter().position(|&dim| dim == Dim::Dynamic) {
        let shape = text(g, shape);
        return Err(Box::new(VerifyError::NoSource { shape, dimension }));
    }
    Ok(TensorType::new(op.dtype(g), shape.iter().copied()).into())
}

fn eval_iota(op: Iota, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (g, mut shape) = (cx.graph, Vec::new());
    for &dim in op.shape(g) {
        let extent = cx
            .extent(dim)?
            .and_then(|extent| usize::try_from(extent).ok());
        shape.push(extent.unwrap_or(0));
    }
    indices_along(cx, op.dtype(g), &shape, op.axis(g))
}

/// Computes the index along `axis`, which is valid, at every position of `shape`.
///
/// # Errors
///
/// A tensor that is too large.
pub(crate) fn indices_along(
    cx: &EvalCx<'_>,
    dtype: DType,
    shape: &[usize],
    axis: i64,
) -> Result<Tensor, EvalError> {
    let axis = resolve("iota", axis, shape.len()).expect("a verified axis lies in the rank");
    let length = match cx.count(dtype, shape)? {
        0 => 0,
        _ => shape[axis],
    };
    cx.count(DType::I64, &[length])?;
    let indices = Tensor::of(vec![length], (0..length as i64).collect());
    let row = cast(cx, &indices, dtype)?;
    let axes: Vec<strided::Axis> = shape
        .iter()
        .enumerate()
        .map(|(at, &extent)| (extent, usize::from(at == axis)))
        .collect();
    strided::copy(cx, &row, 0, &axes)
}

fn infer_dim(op: ExtentOf, g: &Graph) -> InferResult {
    resolve("dim", op.axis(g), g.ty(op.input(g)).rank())?;
    Ok(TensorType::fixed(DType::I64, &[]).into())
}

fn eval_dim(op: ExtentOf, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    cx.count(DType::I64, &[])?;
    let shape = operands[0].shape();
    let axis = resolve("dim", op.axis(cx.graph), shape.len());
    let axis = axis.expect("a verified axis lies in the rank");
    Ok(Tensor::scalar(shape[axis] as i64))
}

fn fold_dim(op: ExtentOf, g: &Graph) -> Option<Folded> {
    let shape = g.ty(op.input(g)).shape;
    let axis = resolve("dim", op.axis(g), shape.len()).ok()?;
    shape[axis].fixed().map(Folded::Number)
}
