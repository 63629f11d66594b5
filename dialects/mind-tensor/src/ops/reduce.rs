//! Reductions along axes.

pub use mind_core::eval::reduce::Reduction;
use mind_core::eval::reduce::{ReducedAxes, reduce};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::verify::InferResult;

use crate::axes::listed;

ops! {
    /// The sum, mean, maximum, minimum or product along `axes`.
    ///
    /// Shapes: each of `axes` is removed, or becomes 1 with `keepdims`; an empty list reduces no axis, so that each
    /// result is computed from one element.
    /// Order: 64 interleaved partial results, see docs/numerics.md, `Sum` to `Prod`.
    /// Errors: E2005 `bool`, E3004 axis out of range, E3005 duplicate axis; E6005 when run, on a mean of no elements
    /// for integers.
    /// Source: mind-spec v1.0 ir.md, "Reductions".
    Reduce = "tensor.reduce" {
        operands: (input: Num),
        attrs: { kind: Reduction, axes: Ints, keepdims: Bool = false },
        traits: [Pure, Extended],
        names: {},
        infer: infer_reduce,
        eval: eval_reduce,
    }
}

fn infer_reduce(op: Reduce, g: &Graph) -> InferResult {
    let ty = g.ty(op.input(g));
    let reduced = listed("reduce", op.axes(g), ty.rank())?;
    let dims = ty.shape.iter().enumerate();
    let kept = dims.filter_map(|(axis, &dim)| {
        if reduced.contains(&axis) {
            op.keepdims(g).then_some(Dim::Fixed(1))
        } else {
            Some(dim)
        }
    });
    Ok(ty.with_shape(kept).into())
}

fn eval_reduce(op: Reduce, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (g, input) = (cx.graph, operands[0]);
    let axes = 0..input.rank() as i64;
    let reduced = axes.map(|axis| op.axes(g).contains(&axis)).collect();
    let along = ReducedAxes::new(reduced, op.keepdims(g));
    reduce(op.kind(g), cx, input, &along)
}
