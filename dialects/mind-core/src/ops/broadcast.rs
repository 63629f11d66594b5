//! Broadcasts to a given shape.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::check_rank;
use crate::eval::strided::{self, strides_of};
use crate::extent::{self, check_extents, text};
use crate::ops::shape::same_type;

ops! {
    /// `input`, broadcast to `shape`: repeated along new leading dimensions and dimensions of extent 1.
    ///
    /// The dimensions of `input` are aligned with the last ones of `shape`. For example `[3, 1]` broadcasts to
    /// `[2, 3, 4]`. An extent `?` or -1 of `shape` is that of `input`.
    ///
    /// Shapes: `shape`; each extent of `input` is 1 or that of `shape`.
    /// Errors: E3001 an extent that does not broadcast, E3002 `input` has more dimensions than `shape`, or rank above
    /// 32, E3006 extent below -1, E3011 `?` at a new dimension.
    /// Source: this compiler; ONNX `Expand`, StableHLO `broadcast_in_dim`.
    BroadcastTo = "core.broadcast_to" {
        operands: (input: Any),
        attrs: { shape: Dims },
        traits: [Pure, Extended],
        names: { core: "BroadcastTo", mic1: "broadcast_to" },
        infer: infer_broadcast_to,
        eval: eval_broadcast_to,
        fold: |op, g| same_type(g, op.input(g), op.result(g)),
    }
}

fn infer_broadcast_to(op: BroadcastTo, g: &Graph) -> InferResult {
    let (input, shape) = (g.ty(op.input(g)), &written_shape(op, g)[..]);
    check_rank("broadcast_to", shape.len())?;
    check_extents(g, shape)?;
    let Some(new) = shape.len().checked_sub(input.rank()) else {
        return Err(Box::new(VerifyError::Rank {
            op: "broadcast_to",
            operand: "input",
            expected: format!("at most {}", shape.len()),
            found: input.rank(),
        }));
    };
    if let Some(dimension) = shape[..new].iter().position(|&dim| dim == Dim::Dynamic) {
        let shape = text(g, shape);
        return Err(Box::new(VerifyError::NoSource { shape, dimension }));
    }
    let mut result: Shape = shape.iter().copied().collect();
    for (at, &dim) in (new..).zip(input.shape) {
        extent::stretches(g, input.shape, shape, at, dim)?;
        if result[at] == Dim::Dynamic {
            result[at] = dim;
        }
    }
    Ok(input.with_shape(result).into())
}

/// Returns the shape attribute, with -1 as `?`.
pub fn written_shape(op: BroadcastTo, g: &Graph) -> Shape {
    extent::opened(op.shape(g))
}

fn eval_broadcast_to(
    op: BroadcastTo,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, shape) = (operands[0], written_shape(op, cx.graph));
    let new = shape.len() - input.rank();
    let mut extents = Vec::with_capacity(shape.len());
    for (at, &dim) in shape.iter().enumerate() {
        extents.push(match (cx.extent(dim)?, at.checked_sub(new)) {
            (Some(wanted), _) => usize::try_from(wanted).unwrap_or(0),
            (None, Some(axis)) => input.shape()[axis],
            (None, None) => 1,
        });
    }
    broadcast(cx, input, &extents)
}

/// Broadcasts `input` to `extents`, which are at least as many as `input` has dimensions.
///
/// # Errors
///
/// An extent of `input` that is neither 1 nor the requested one; a tensor that is too large.
pub(crate) fn broadcast(
    cx: &EvalCx<'_>,
    input: &Tensor,
    extents: &[usize],
) -> Result<Tensor, EvalError> {
    let (strides, new) = (strides_of(input), extents.len() - input.rank());
    let mut axes: Vec<strided::Axis> = Vec::with_capacity(extents.len());
    for (at, &wanted) in extents.iter().enumerate() {
        let own = at
            .checked_sub(new)
            .map(|axis| (input.shape()[axis], strides[axis]));
        let (extent, stride) = own.unwrap_or((1, 0));
        if extent != 1 && extent != wanted {
            return Err(mismatch(input, at, extent, wanted));
        }
        axes.push((wanted, if extent == 1 { 0 } else { stride }));
    }
    strided::copy(cx, input, 0, &axes)
}

/// Returns the error for an extent of a run that does not broadcast.
pub fn mismatch(input: &Tensor, dimension: usize, found: usize, wanted: usize) -> EvalError {
    let shape = input.shape();
    EvalError::Shape(format!(
        "broadcasting {shape:?} failed at dimension {dimension}: extent {found} against {wanted}"
    ))
}
