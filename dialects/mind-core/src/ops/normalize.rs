//! Normalisation along an axis.

use mind_ir::ValueId;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::ops;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_float;

use crate::axes;
use crate::eval::reduce::{ReducedAxes, max, mean, sum};

ops! {
    /// `e / sum(e)` along `axis`, with `e = exp(input - max(input))`.
    ///
    /// Shapes: as the operand.
    /// Order: as `Max`, `Sub`, `Exp`, `Sum` and `Div` one after the other.
    /// Errors: E2005 not a float, E3004 axis out of range.
    /// Source: mic@2 `s`.
    Softmax = "core.softmax" {
        operands: (input: Float),
        attrs: { axis "ax": Int = -1 },
        traits: [Pure, Extended],
        names: { core: "Softmax", mic1: "softmax", mic2: "s" },
        infer: infer_softmax,
        eval: eval_softmax,
    }

    /// `d / sqrt(mean(d * d) + 1e-5)` along the last axis, with `d = input - mean(input)`.
    ///
    /// Shapes: as the operand.
    /// Order: as `Mean`, `Sub`, `Mul`, `Mean`, `Add`, `Sqrt` and `Div` one after the other.
    /// Errors: E2005 not a float, E3002 rank 0.
    /// Source: mic@2 `ln`.
    LayerNorm = "core.layernorm" {
        operands: (input: Float),
        traits: [Pure, Extended],
        names: { core: "LayerNorm", mic1: "layernorm", mic2: "ln" },
        infer: infer_layernorm,
        eval: eval_layernorm,
    }
}

fn infer_softmax(op: Softmax, g: &Graph) -> InferResult {
    axes::resolve("softmax", op.axis(g), g.ty(op.input(g)).rank())?;
    same_as(g, op.input(g))
}

fn infer_layernorm(op: LayerNorm, g: &Graph) -> InferResult {
    if g.ty(op.input(g)).rank() == 0 {
        let (op, operand, expected) = ("layernorm", "input", "1 or more".to_owned());
        return Err(Box::new(VerifyError::Rank {
            op,
            operand,
            expected,
            found: 0,
        }));
    }
    same_as(g, op.input(g))
}

fn same_as(g: &Graph, value: ValueId) -> InferResult {
    Ok(Inferred::Known(
        g.type_id(value).expect("operands have types"),
    ))
}

/// Returns the epsilon of layer normalisation, 1e-5, rounded to the dtype.
///
/// # Panics
///
/// If `dtype` is not a float.
pub fn epsilon(dtype: DType) -> Tensor {
    with_float!(dtype, T => Tensor::scalar(T::from_f64(1e-5)), else {
        panic!("layer normalisation is not defined for {dtype}")
    })
}

/// Evaluates a softmax.
fn eval_softmax(op: Softmax, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, rank) = (operands[0], operands[0].rank());
    let axis = axes::resolve("softmax", op.axis(cx.graph), rank);
    let along = ReducedAxes::single(axis.expect("a verified axis lies in the rank"), rank);
    let largest = max(cx, input, &along)?;
    let shifted = ScalarFn::Sub.eval(cx, &[input, &largest])?;
    let powers = ScalarFn::Exp.eval(cx, &[&shifted])?;
    let total = sum(cx, &powers, &along)?;
    ScalarFn::Div.eval(cx, &[&powers, &total])
}

/// Evaluates a layer normalisation.
fn eval_layernorm(
    _: LayerNorm,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, rank) = (operands[0], operands[0].rank());
    let along = ReducedAxes::single(rank - 1, rank);
    let epsilon = epsilon(input.dtype());
    let center = mean(cx, input, &along)?;
    let deviation = ScalarFn::Sub.eval(cx, &[input, &center])?;
    let squares = ScalarFn::Mul.eval(cx, &[&deviation, &deviation])?;
    let variance = mean(cx, &squares, &along)?;
    let shifted = ScalarFn::Add.eval(cx, &[&variance, &epsilon])?;
    let scale = ScalarFn::Sqrt.eval(cx, &[&shifted])?;
    ScalarFn::Div.eval(cx, &[&deviation, &scale])
}
