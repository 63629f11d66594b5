//! Kernels that copy elements.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::index::{gathered, gathered_type};
use mind_core::ops::join::{concatenated, joined_type};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

use crate::extents::extents;
use crate::ops::nest::check_schedule;

ops! {
    /// The slices of `data` along `axis` at `indices`.
    ///
    /// Shapes: `data[..axis] ++ indices ++ data[axis + 1..]`.
    /// Schedule: `at` is as for `loops.nest`.
    /// Errors: E3002 `data` of rank 0, E3004 axis out of range, E4006 not one offset, E4011 indices not i32 or i64;
    /// E6001 when run, index out of bounds.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing".
    Gather = "loops.gather" {
        operands: (data: Any, indices: Any),
        attrs: { axis: Int, at: Ints = &[] },
        traits: [Pure, Extended],
        names: {},
        infer: infer_gather,
        eval: eval_gather,
    }

    /// The inputs, concatenated along `axis`.
    ///
    /// Shapes: as the inputs, their extents along `axis` added up.
    /// Schedule: `at` is as for `loops.nest`. An input that is already in its part of the result is not copied.
    /// Errors: E2004 different dtypes, E3002 different ranks, E3003 other extents differ, E3004 axis out of range,
    /// E4006 not one offset.
    /// Source: mic@2 `cat`.
    Join = "loops.join" {
        variadic: (inputs: Any),
        attrs: { axis: Int, at: Ints = &[] },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_join,
        eval: eval_join,
    }

    /// The right sides of products, packed in panels in the order in which the micro-kernel reads them.
    ///
    /// Shapes: `batch` dimensions, then those of the products, the last one for the columns; as the result. The layout
    /// of the panels is private to this op and the products that read it.
    /// Schedule: `at` is as for `loops.nest`; a constant or a weight is packed once, when it is bound.
    /// Errors: E3002 fewer dimensions than `batch` and a matrix, E4006 not one offset.
    /// Source: this compiler.
    Pack = "loops.pack" {
        operands: (input: Num),
        attrs: { batch: Int = 0, at: Ints = &[] },
        traits: [Pure, Extended],
        names: {},
        infer: infer_pack,
        eval: |_, _, operands| Ok(operands[0].clone()),
    }
}

fn axis_range(op: &'static str, axis: i64, rank: usize) -> Box<VerifyError> {
    Box::new(VerifyError::AxisRange { op, axis, rank })
}

fn infer_gather(op: Gather, g: &Graph) -> InferResult {
    let (data, axis) = (op.data(g), op.axis(g));
    extents(g, "gather", data)?;
    extents(g, "gather", op.indices(g))?;
    check_schedule("gather", 1, 0, &[], &[], op.at(g))?;
    match axis {
        ..0 => Err(axis_range("gather", axis, g.ty(data).rank())),
        _ => gathered_type(g.ty(data), g.ty(op.indices(g)), axis),
    }
}

fn eval_gather(op: Gather, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let axis = usize::try_from(op.axis(cx.graph)).expect("a verified axis is not negative");
    gathered(cx, operands[0], operands[1], axis, Bounds::Strict)
}

fn infer_join(op: Join, g: &Graph) -> InferResult {
    let (inputs, axis) = (op.inputs(g), op.axis(g));
    for &input in inputs {
        extents(g, "join", input)?;
    }
    check_schedule("join", 1, 0, &[], &[], op.at(g))?;
    match axis {
        ..0 => Err(axis_range("join", axis, g.ty(inputs[0]).rank())),
        _ => joined_type(g, inputs, axis),
    }
}

fn eval_join(op: Join, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let axis = usize::try_from(op.axis(cx.graph)).expect("a verified axis is not negative");
    concatenated(cx, operands, axis)
}

fn infer_pack(op: Pack, g: &Graph) -> InferResult {
    let input = op.input(g);
    extents(g, "pack", input)?;
    check_schedule("pack", 1, 0, &[], &[], op.at(g))?;
    match g.ty(input).rank() {
        found if op.batch(g) < 0 || (found as i64) < op.batch(g) + 2 => {
            Err(Box::new(VerifyError::Rank {
                op: "pack",
                operand: "input",
                expected: format!(
                    "{} or more (two more than batch dimensions)",
                    op.batch(g) + 2
                ),
                found,
            }))
        }
        _ => Ok(g.ty(input).to_owned().into()),
    }
}
