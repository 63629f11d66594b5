//! Ops with the shape of the result as an operand.

use mind_ir::ValueId;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape, TensorType};
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::{check_rank, resolve};
use crate::eval::bounds::indices;
use crate::extent::{agree, check_extents, opened, stretches, text};
use crate::ops::broadcast::broadcast;
use crate::ops::extents::indices_along;
use crate::ops::shape::renamed;

ops! {
    /// The elements of `input` in row-major order, in the shape that `extents` lists.
    ///
    /// `shape` is the static shape of the result: an extent `?` or -1 of it may be any, and another one must equal that
    /// of `extents`. With `refuse_ones` a run in which an extent is 1 fails, because a squeeze without axes would drop
    /// that dimension, but the rank of a value is fixed before the run.
    ///
    /// Shapes: `extents` is `[rank of shape]`; the result is `shape`.
    /// Errors: E2005 `extents` not i32 or i64, E3002 `extents` not of rank 1, or rank above 32, E3003 not one extent
    /// for each dimension, E3006 extent below -1; when run, a negative extent, one that differs from `shape`, one of 1
    /// that `refuse_ones` excludes, another number of elements.
    /// Source: this compiler; ONNX `Reshape`, StableHLO `dynamic_reshape`.
    DynamicReshape = "core.dynamic_reshape" {
        operands: (input: Any, extents: Index),
        attrs: { shape: Dims, refuse_ones "r1": Bool = false },
        traits: [Pure, Extended],
        names: { core: "DynamicReshape", mic1: "dynamic_reshape" },
        infer: infer_reshape,
        eval: eval_reshape,
    }

    /// `input` broadcast, as by `BroadcastTo`, to the shape that `extents` lists.
    ///
    /// `shape` is as for `DynamicReshape`.
    ///
    /// Shapes: `extents` is `[rank of shape]`; the result is `shape`; each extent of `input` is 1 or that of `shape`.
    /// Errors: E2005 `extents` not i32 or i64, E3001 an extent that does not broadcast, E3002 `extents` not of rank 1,
    /// `input` has more dimensions than `shape`, or rank above 32, E3003 not one extent for each dimension, E3006
    /// extent below -1; when run, a negative extent, one that differs from `shape`, one that does not broadcast.
    /// Source: this compiler; ONNX `Expand`, StableHLO `dynamic_broadcast_in_dim`.
    DynamicBroadcastTo = "core.dynamic_broadcast_to" {
        operands: (input: Any, extents: Index),
        attrs: { shape: Dims },
        traits: [Pure, Extended],
        names: { core: "DynamicBroadcastTo", mic1: "dynamic_broadcast_to" },
        infer: infer_broadcast_to,
        eval: eval_broadcast_to,
    }

    /// The index along `axis` at every position, as by `Iota`, in the shape that `extents` lists.
    ///
    /// `shape` is as for `DynamicReshape`.
    ///
    /// Shapes: `extents` is `[rank of shape]`; the result is `shape`.
    /// Errors: E2005 `extents` not i32 or i64, E3002 `extents` not of rank 1, or rank above 32, E3003 not one extent
    /// for each dimension, E3004 axis out of range, E3006 extent below -1; when run, a negative extent, one that
    /// differs from `shape`.
    /// Source: this compiler; ONNX `Range`, StableHLO `dynamic_iota`.
    DynamicIota = "core.dynamic_iota" {
        operands: (extents: Index),
        attrs: { dtype "t": ElementType, shape: Dims, axis "ax": Int = 0 },
        traits: [Pure, Extended],
        names: { core: "DynamicIota", mic1: "dynamic_iota" },
        infer: infer_iota,
        eval: eval_iota,
    }
}

fn infer_reshape(op: DynamicReshape, g: &Graph) -> InferResult {
    let shape = declared(g, "dynamic_reshape", op.shape(g), op.extents(g))?;
    Ok(g.ty(op.input(g)).with_shape(shape).into())
}

fn infer_broadcast_to(op: DynamicBroadcastTo, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let shape = declared(g, "dynamic_broadcast_to", op.shape(g), op.extents(g))?;
    let Some(new) = shape.len().checked_sub(input.rank()) else {
        return Err(Box::new(VerifyError::Rank {
            op: "dynamic_broadcast_to",
            operand: "input",
            expected: format!("at most {}", shape.len()),
            found: input.rank(),
        }));
    };
    for (at, &dim) in (new..).zip(input.shape) {
        stretches(g, input.shape, &shape, at, dim)?;
    }
    Ok(input.with_shape(shape).into())
}

fn infer_iota(op: DynamicIota, g: &Graph) -> InferResult {
    let shape = declared(g, "dynamic_iota", op.shape(g), op.extents(g))?;
    resolve("dynamic_iota", op.axis(g), shape.len())?;
    Ok(TensorType::new(op.dtype(g), shape).into())
}

/// Returns the static shape of the result from the attribute `written`, and checks that `extents` has one element for
/// each dimension.
fn declared(
    g: &Graph,
    op: &'static str,
    written: &[Dim],
    extents: ValueId,
) -> Result<Shape, Box<VerifyError>> {
    const HELP: &str = "give one extent for each dimension of `shape`";
    let shape = opened(written);
    check_rank(op, shape.len())?;
    check_extents(g, &shape)?;
    let &[count] = g.ty(extents).shape else {
        return Err(Box::new(VerifyError::Rank {
            op,
            operand: "extents",
            expected: "1".to_owned(),
            found: g.ty(extents).rank(),
        }));
    };
    let rank = Dim::Fixed(shape.len() as i64);
    agree(g, op, "0 of `extents`", rank, count, HELP)?;
    Ok(shape)
}

fn eval_reshape(
    op: DynamicReshape,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, shape) = (
        operands[0],
        requested_shape(cx, op.shape(cx.graph), operands[1])?,
    );
    if op.refuse_ones(cx.graph)
        && let Some(axis) = shape.iter().position(|&extent| extent == 1)
    {
        return Err(EvalError::Shape(format!(
            "dimension {axis} of {shape:?} has extent 1, expected any other: a squeeze without `axes` would drop it, but the \
             rank of a value is fixed before the run; give the squeeze its `axes`"
        )));
    }
    let count = shape
        .iter()
        .try_fold(1usize, |count, &extent| count.checked_mul(extent));
    if count != Some(input.count()) {
        let (from, count) = (input.shape(), input.count());
        return Err(EvalError::Shape(format!(
            "reshape changes the element count: {from:?} has {count}, which {shape:?} cannot hold"
        )));
    }
    renamed(cx, input, shape)
}

fn eval_broadcast_to(
    op: DynamicBroadcastTo,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let extents = requested_shape(cx, op.shape(cx.graph), operands[1])?;
    broadcast(cx, operands[0], &extents)
}

fn eval_iota(op: DynamicIota, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let shape = requested_shape(cx, op.shape(cx.graph), operands[0])?;
    indices_along(cx, op.dtype(cx.graph), &shape, op.axis(cx.graph))
}

/// Returns the extents that the operand lists, after checking them against `written`.
fn requested_shape(
    cx: &EvalCx<'_>,
    written: &[Dim],
    extents: &Tensor,
) -> Result<Vec<usize>, EvalError> {
    let (given, shape) = (indices(extents), opened(written));
    if given.len() != shape.len() {
        let (found, rank) = (given.len(), shape.len());
        return Err(EvalError::Shape(format!(
            "`extents` has {found} elements for a shape of rank {rank}"
        )));
    }
    let admit = |(axis, (&extent, &dim)): (usize, (&i64, &Dim))| match cx.extent(dim)? {
        Some(expected) if expected != extent => {
            let shape = text(cx.graph, &shape);
            Err(EvalError::Shape(format!(
                "`extents` gives {given:?}, which is not of shape {shape}: dimension {axis} has extent {extent}, expected \
                 {expected}"
            )))
        }
        _ => usize::try_from(extent)
            .map_err(|_| EvalError::Shape(format!("`extents` gives a negative extent: {given:?}"))),
    };
    given.iter().zip(&shape).enumerate().map(admit).collect()
}
