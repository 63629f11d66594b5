//! Gathers: reads at indices that a tensor lists.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Tensor, row_major};
use mind_ir::verify::InferResult;

use crate::axes::resolve;
use crate::eval::bounds::{Bounds, indices};
use crate::eval::indexed;
use crate::indexing::{Tuples, along_axis, along_axis_fits};

ops! {
    /// The elements of `data` at an index that is the element of `indices` along `axis`, and the index of the result
    /// along the other axes.
    ///
    /// `bounds` selects which indices are valid: `strict`, from 0 to below the extent; `from_end`, also from minus the
    /// extent; `clamp`, any, clamped to the axis; `skip`, any, and reads outside give 0.
    ///
    /// Shapes: as `indices`, which has the rank of `data` and along the other axes at most its extents.
    /// Errors: E2005 `indices` not i32 or i64, E3002 different ranks, E3003 `indices` larger than `data` along another
    /// axis, E3004 axis out of range; E6001 when run, index out of bounds.
    /// Source: this compiler; ONNX `GatherElements`, MIL `gather_along_axis`.
    GatherElements = "core.gather_elements" {
        operands: (data: Any, indices: Index),
        attrs: { axis "ax": Int = 0, bounds "bd": Bounds = Bounds::Strict },
        traits: [Pure, Extended],
        names: { core: "GatherElements", mic1: "gather_elements" },
        infer: infer_gather_elements,
        eval: eval_gather_elements,
    }

    /// The slices of `data` at the tuples in the last dimension of `indices`.
    ///
    /// The first `batch_dims` dimensions of both are paired; a tuple holds an index for each of the next dimensions of
    /// `data`. `bounds` is as for `GatherElements`.
    ///
    /// Shapes: `indices[..-1] ++ data[batch_dims + indices[-1]..]`.
    /// Errors: E2005 `indices` not i32 or i64, E3002 a rank too small, or a result of rank above 32, E3003 batches
    /// differ, or the length of the tuples is not known, E3004 `batch_dims` out of range; E6001 when run, index out of
    /// bounds.
    /// Source: this compiler; ONNX `GatherND`, MIL `gather_nd`.
    GatherNd = "core.gather_nd" {
        operands: (data: Any, indices: Index),
        attrs: { batch_dims "b": Int = 0, bounds "bd": Bounds = Bounds::Strict },
        traits: [Pure, Extended],
        names: { core: "GatherNd", mic1: "gather_nd" },
        infer: infer_gather_nd,
        eval: eval_gather_nd,
    }
}

fn infer_gather_elements(op: GatherElements, g: &Graph) -> InferResult {
    let (data, indices) = (g.ty(op.data(g)), g.ty(op.indices(g)));
    along_axis(g, "gather_elements", data, indices, op.axis(g))?;
    Ok(data.with_shape(indices.shape.iter().copied()).into())
}

fn eval_gather_elements(
    op: GatherElements,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, list) = (operands[0], operands[1]);
    let axis = resolve("gather_elements", op.axis(cx.graph), data.rank());
    let axis = axis.expect("a verified axis lies in the rank");
    along_axis_fits(data, list, axis)?;
    let (strides, extent) = (row_major(data.shape()), data.shape()[axis]);
    let bounds = op.bounds(cx.graph);
    let mut places = indices(list).into_iter();
    indexed::picked(cx, data, list.shape().to_vec(), |index| {
        let place = places.next().expect("an index for each position");
        let place = bounds.position(place, axis, extent)?;
        let offset = |place: usize| {
            let own = |at: usize| if at == axis { place } else { index[at] };
            (0..index.len()).map(|at| own(at) * strides[at]).sum()
        };
        Ok(place.map(offset))
    })
}

fn infer_gather_nd(op: GatherNd, g: &Graph) -> InferResult {
    let (data, indices) = (g.ty(op.data(g)), g.ty(op.indices(g)));
    let shape = Tuples::verified("gather_nd", g, data, indices, op.batch_dims(g))?;
    Ok(data.with_shape(shape).into())
}

fn eval_gather_nd(
    op: GatherNd,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, list) = (operands[0], operands[1]);
    let tuples = Tuples::of(data, list, op.batch_dims(cx.graph))?;
    let shape = tuples.shape.clone();
    cx.count(data.dtype(), &shape)?;
    let starts = tuples.starts(op.bounds(cx.graph))?;
    let mut position = 0;
    indexed::picked(cx, data, shape, |_| {
        let (tuple, within) = (position / tuples.width, position % tuples.width);
        position += 1;
        Ok(starts[tuple].map(|start| start + within))
    })
}
