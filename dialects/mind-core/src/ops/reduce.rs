//! Reductions along axes.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::verify::InferResult;
use mind_ir::{OpId, ValueId};

use crate::axes;
use crate::eval::reduce::{ReducedAxes, max, mean, min, prod, sum};

ops! {
    /// Sum of the elements along `axes`.
    ///
    /// Shapes: each reduced axis is removed, or becomes 1 with `keepdims`; no `axes` means all, giving `[]` even with
    /// `keepdims`.
    /// Order: interleaved partial sums, see docs/numerics.md.
    /// Errors: E2005 `bool`, E3004 axis out of range, E3005 duplicate axis.
    /// Source: mind-spec v1.0 ir.md, "Reductions".
    Sum = "core.sum" {
        operands: (input: Num),
        attrs: { axes: Ints = &[], keepdims "kd": Bool = false },
        traits: [Pure],
        names: { core: "Sum", mic1: "sum", mic2: "sum" },
        infer: |op, g| infer_reduction(op.0, g, op.input(g), op.axes(g), op.keepdims(g)),
        eval: eval_sum,
    }

    /// Arithmetic mean of the elements along `axes`: the sum divided by the number of elements reduced;
    /// integers truncate toward zero.
    ///
    /// Shapes: as `Sum`.
    /// Order: as `Sum`.
    /// Errors: E2005 `bool`, E3004 axis out of range, E3005 duplicate axis.
    /// Source: mind-spec v1.0 ir.md, "Reductions".
    Mean = "core.mean" {
        operands: (input: Num),
        attrs: { axes: Ints = &[], keepdims "kd": Bool = false },
        traits: [Pure],
        names: { core: "Mean", mic1: "mean", mic2: "mean" },
        infer: |op, g| infer_reduction(op.0, g, op.input(g), op.axes(g), op.keepdims(g)),
        eval: eval_mean,
    }

    /// Largest element along `axes`; NaN if one is NaN, +0 above -0. Of `bool`: whether any element is true.
    ///
    /// Over no elements it is -inf, the smallest integer or false.
    ///
    /// Shapes: as `Sum`.
    /// Errors: E3004 axis out of range, E3005 duplicate axis.
    /// Source: mic@2 `max`.
    Max = "core.max" {
        operands: (input: Any),
        attrs: { axes: Ints = &[], keepdims "kd": Bool = false },
        traits: [Pure, Extended],
        names: { core: "Max", mic1: "max", mic2: "max" },
        infer: |op, g| infer_reduction(op.0, g, op.input(g), op.axes(g), op.keepdims(g)),
        eval: eval_max,
    }

    /// Smallest element along `axes`; NaN if one is NaN, -0 below +0. Of `bool`: whether all elements are true.
    ///
    /// Over no elements it is +inf, the largest integer or true.
    ///
    /// Shapes: as `Sum`.
    /// Errors: E3004 axis out of range, E3005 duplicate axis.
    /// Source: this compiler; ONNX `ReduceMin`, MIL `reduce_min`, StableHLO `reduce`.
    Min = "core.min" {
        operands: (input: Any),
        attrs: { axes: Ints = &[], keepdims "kd": Bool = false },
        traits: [Pure, Extended],
        names: { core: "Min", mic1: "min" },
        infer: |op, g| infer_reduction(op.0, g, op.input(g), op.axes(g), op.keepdims(g)),
        eval: eval_min,
    }

    /// Product of the elements along `axes`; 1 over none.
    ///
    /// Shapes: as `Sum`.
    /// Order: as `Sum`.
    /// Errors: E2005 `bool`, E3004 axis out of range, E3005 duplicate axis.
    /// Source: this compiler; ONNX `ReduceProd`, MIL `reduce_prod`, StableHLO `reduce`.
    Prod = "core.prod" {
        operands: (input: Num),
        attrs: { axes: Ints = &[], keepdims "kd": Bool = false },
        traits: [Pure, Extended],
        names: { core: "Prod", mic1: "prod" },
        infer: |op, g| infer_reduction(op.0, g, op.input(g), op.axes(g), op.keepdims(g)),
        eval: eval_prod,
    }
}

/// The shape rule of every reduction.
fn infer_reduction(
    op: OpId,
    g: &Graph,
    input: ValueId,
    axes: &[i64],
    keepdims: bool,
) -> InferResult {
    let def: &'static OpDef = g.def(op);
    let ty = g.ty(input);
    let reduced = axes::reduced(def.short_name(), axes, ty.rank())?;
    if axes.is_empty() {
        return Ok(ty.with_shape([]).into());
    }
    let kept = ty.shape.iter().zip(reduced).filter_map(|(&dim, reduced)| {
        if reduced {
            keepdims.then_some(Dim::Fixed(1))
        } else {
            Some(dim)
        }
    });
    Ok(ty.with_shape(kept).into())
}

/// Evaluates a sum; 0 over no elements.
fn eval_sum(op: Sum, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let along = ReducedAxes::listed(op.axes(cx.graph), op.keepdims(cx.graph), operands[0].rank());
    sum(cx, operands[0], &along)
}

/// Evaluates a mean; over no elements NaN, and E6005 for integers.
fn eval_mean(op: Mean, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let along = ReducedAxes::listed(op.axes(cx.graph), op.keepdims(cx.graph), operands[0].rank());
    mean(cx, operands[0], &along)
}

/// Evaluates a maximum; over no elements -inf or the smallest integer.
fn eval_max(op: Max, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let along = ReducedAxes::listed(op.axes(cx.graph), op.keepdims(cx.graph), operands[0].rank());
    max(cx, operands[0], &along)
}

/// Evaluates a minimum; over no elements +inf or the largest integer.
fn eval_min(op: Min, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let along = ReducedAxes::listed(op.axes(cx.graph), op.keepdims(cx.graph), operands[0].rank());
    min(cx, operands[0], &along)
}

/// Evaluates a product; 1 over no elements.
fn eval_prod(op: Prod, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let along = ReducedAxes::listed(op.axes(cx.graph), op.keepdims(cx.graph), operands[0].rank());
    prod(cx, operands[0], &along)
}
