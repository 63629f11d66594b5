//! Ops that read a part of a tensor.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::index::{element, gathered, gathered_type, sliced, sliced_type};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

ops! {
    /// The single element at `indices`.
    ///
    /// Shapes: `[]`.
    /// Errors: E4006 not one index per axis; E6001 when run, out of bounds.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing".
    Index = "tensor.index" {
        operands: (input: Any),
        attrs: { indices: Ints },
        traits: [Pure, Extended],
        names: {},
        infer: infer_index,
        eval: |op, cx, operands| element(cx, operands[0], op.indices(cx.graph)),
    }

    /// The elements from `starts` up to but excluding `ends`, every `steps`-th, along each axis.
    ///
    /// Shapes: `ceil((end - start) / step)` per axis, 0 where the range is empty.
    /// Errors: E3003 bound negative or past the extent, E4007 not one entry per axis, E4008 step not
    /// positive.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing".
    Slice = "tensor.slice" {
        operands: (input: Any),
        attrs: { starts: Ints, ends: Ints, steps: Ints },
        traits: [Pure, Extended],
        names: {},
        infer: infer_slice,
        eval: eval_slice,
    }

    /// The slices of `data` along `axis` at `indices`.
    ///
    /// Shapes: `data[..axis] ++ indices ++ data[axis + 1..]`.
    /// Errors: E3002 `data` of rank 0 or a result of rank above 32, E3004 axis out of range, E4011
    /// indices not i32 or i64; E6001 when run, index out of bounds.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing".
    Gather = "tensor.gather" {
        operands: (data: Any, indices: Any),
        attrs: { axis: Int },
        traits: [Pure, Extended],
        names: {},
        infer: infer_gather,
        eval: eval_gather,
    }
}

fn infer_index(op: Index, g: &Graph) -> InferResult {
    let (input, found) = (g.ty(op.input(g)), op.indices(g).len());
    if found != input.rank() {
        return Err(Box::new(VerifyError::IndexCount {
            op: "index",
            rank: input.rank(),
            found,
        }));
    }
    Ok(input.with_shape([]).into())
}

fn infer_slice(op: Slice, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    sliced_type(g, input, op.starts(g), op.ends(g), op.steps(g))
}

fn eval_slice(op: Slice, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    sliced(cx, operands[0], op.starts(g), op.ends(g), op.steps(g))
}

fn infer_gather(op: Gather, g: &Graph) -> InferResult {
    let (data, axis) = (g.ty(op.data(g)), op.axis(g));
    if axis < 0 {
        return Err(Box::new(VerifyError::AxisRange {
            op: "gather",
            axis,
            rank: data.rank(),
        }));
    }
    gathered_type(data, g.ty(op.indices(g)), axis)
}

fn eval_gather(op: Gather, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let axis = usize::try_from(op.axis(cx.graph)).expect("a verified axis is not negative");
    gathered(cx, operands[0], operands[1], axis, Bounds::Strict)
}
