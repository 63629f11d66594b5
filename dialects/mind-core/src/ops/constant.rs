//! Constants.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::shape_text;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::{InferResult, VerifyError};

ops! {
    /// A scalar `i64`.
    ///
    /// Shapes: `[]`.
    /// Errors: E1005 literal outside `i64`.
    /// Source: mind-spec v1.0 ir.md, "Constants".
    ConstI64 = "core.const_i64" {
        attrs: { value: Int },
        traits: [Pure, Constant],
        names: { core: "ConstI64", mic1: "const.i64" },
        infer: |_, _| Ok(TensorType::fixed(DType::I64, &[]).into()),
        eval: eval_i64,
    }

    /// A scalar `f32`.
    ///
    /// Shapes: `[]`.
    /// Errors: E4005 finite literal that overflows `f32`.
    /// Source: mind-spec v1.0 ir.md, "Constants".
    ConstF32 = "core.const_f32" {
        attrs: { value: Float },
        traits: [Pure, Constant],
        names: { core: "ConstF32", mic1: "const.f32" },
        infer: infer_f32,
        eval: eval_f32,
    }

    /// A scalar `f64`.
    ///
    /// Shapes: `[]`.
    /// Errors: E4005 finite literal that overflows `f64`.
    /// Source: mind-spec v1.0 ir.md, "Constants".
    ConstF64 = "core.const_f64" {
        attrs: { value: Float },
        traits: [Pure, Constant],
        names: { core: "ConstF64", mic1: "const.f64" },
        infer: |_, _| Ok(TensorType::fixed(DType::F64, &[]).into()),
        eval: eval_f64,
    }

    /// A tensor of the declared type with the elements of `data`, or one element repeated.
    ///
    /// Shapes: as declared; any extent but a negative one.
    /// Errors: E3006 extent negative, E3010 nesting of the data, E4004 no type, E4005 element count
    /// or dtype.
    /// Source: mind-spec v1.0 ir.md, "Constants".
    ConstTensor = "core.const_tensor" {
        attrs: { data: LiteralData },
        traits: [Pure, Constant, DeclaresType],
        names: { core: "ConstTensor", mic1: "const.tensor" },
        infer: infer_tensor,
        eval: eval_tensor,
    }
}

fn infer_f32(op: ConstF32, g: &Graph) -> InferResult {
    let (ty, value) = (TensorType::fixed(DType::F32, &[]), op.value(g));
    if value.is_finite() && (value as f32).is_infinite() {
        let problem = format!("{value:e} overflows it");
        return Err(Box::new(VerifyError::Constant {
            ty: ty.view().text(g.symbols()),
            problem,
        }));
    }
    Ok(ty.into())
}

fn infer_tensor(op: ConstTensor, g: &Graph) -> InferResult {
    let result = op.result(g);
    let Some(declared) = g.declared(result).or(g.type_id(result)) else {
        return Ok(Inferred::Declared);
    };
    let (ty, data) = (g.types().get(declared), op.data(g));
    let problem = match (data.count, ty.count()) {
        _ if data.dtype != ty.dtype => format!("the elements are {}", data.dtype),
        (Some(given), Some(expected)) if given as i64 != expected => {
            format!("{given} elements are given, the shape holds {expected}")
        }
        (Some(_), None) => "listed elements need a shape that is known".to_owned(),
        _ if ty.shape.contains(&Dim::Dynamic) => "`?` leaves the element count open".to_owned(),
        _ => return Ok(Inferred::Declared),
    };
    Err(Box::new(VerifyError::Constant {
        ty: ty.text(g.symbols()),
        problem,
    }))
}

/// Evaluates a scalar `i64` constant.
fn eval_i64(op: ConstI64, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    Ok(Tensor::scalar(op.value(cx.graph)))
}

/// Evaluates a scalar `f32` constant.
fn eval_f32(op: ConstF32, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    Ok(Tensor::scalar(op.value(cx.graph) as f32))
}

/// Evaluates a scalar `f64` constant.
fn eval_f64(op: ConstF64, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
    Ok(Tensor::scalar(op.value(cx.graph)))
}

/// Evaluates a tensor constant; a splat is repeated to the shape.
fn eval_tensor(op: ConstTensor, cx: &EvalCx<'_>, _: &[&Tensor]) -> Result<Tensor, EvalError> {
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
    let given = cx.graph.literal_elements(data);
    let elements = if data.is_splat() {
        given.splat(count)
    } else {
        given
    };
    if elements.len() != count {
        let given = elements.len();
        let text = format!("constant data has {given} elements for shape {shape:?}");
        return Err(EvalError::Shape(text));
    }
    Ok(Tensor::new(shape, elements))
}
