//! Elements written at places that a tensor lists.

use mind_ir::eval::{EvalCx, EvalError, Overflow};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Element, Num, Tensor, advance, row_major};
use mind_ir::types::{DType, Dim, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_num;

use crate::axes::resolve;
use crate::eval::bounds::{Bounds, indices};
use crate::extent::agree;
use crate::places::{Tuples, along_axis, along_axis_fits};

mind_ir::words! {
    /// What an update does to the element at its place.
    pub enum Update {
        /// It takes its place.
        Replace = "none",
        /// It is added.
        Add = "add",
        /// It is multiplied by.
        Mul = "mul",
        /// The smaller one stays, as `Minimum` says.
        Min = "min",
        /// The larger one stays, as `Maximum` says.
        Max = "max",
    }
}

ops! {
    /// `data`, with each of `updates` joined to the element whose index along `axis` is that in `indices`, and
    /// otherwise that of the update.
    ///
    /// `kind` says how: `none` replaces the element; `add`, `mul`, `min` and `max` combine both, and each step is rounded
    /// to the dtype. `bounds` is as for `GatherElements`; a skipped update is dropped.
    ///
    /// Shapes: as `data`; `updates` as `indices`, which has the rank of `data` and along the other axes at most its extents.
    /// Order: updates are applied in row-major order of `updates`, so that with `none` the last one stays.
    /// Errors: E2004 `data` and `updates` of different dtypes, E2005 `indices` not i32 or i64, or `bool` for a `kind` other
    /// than `none`, E3002 different ranks, E3003 extents do not fit, E3004 axis out of range; E6001 when run, index out of
    /// bounds.
    /// Source: this compiler; ONNX `ScatterElements`, MIL `scatter_along_axis`.
    ScatterElements = "core.scatter_elements" {
        operands: (data: Any, indices: Index, updates: Any),
        attrs: { axis "ax": Int = 0, kind "k": Update = Update::Replace, bounds "bd": Bounds = Bounds::Strict },
        traits: [Pure, Extended],
        names: { core: "ScatterElements", mic1: "scatter_elements" },
        infer: infer_scatter_elements,
        eval: eval_scatter_elements,
    }

    /// `data`, with each slice of `updates` joined to the slice at its tuple in the last dimension of `indices`.
    ///
    /// `kind` and `bounds` are as for `ScatterElements`.
    ///
    /// Shapes: as `data`; `updates` is `indices[..-1] ++ data[indices[-1]..]`.
    /// Order: as `ScatterElements`.
    /// Errors: E2004 `data` and `updates` of different dtypes, E2005 `indices` not i32 or i64, or `bool` for a `kind` other
    /// than `none`, E3002 a rank that does not fit, E3003 extents of `updates` differ, or the length of the tuples is not
    /// known; E6001 when run, index out of bounds.
    /// Source: this compiler; ONNX `ScatterND`, MIL `scatter_nd`.
    ScatterNd = "core.scatter_nd" {
        operands: (data: Any, indices: Index, updates: Any),
        attrs: { kind "k": Update = Update::Replace, bounds "bd": Bounds = Bounds::Strict },
        traits: [Pure, Extended],
        names: { core: "ScatterNd", mic1: "scatter_nd" },
        infer: infer_scatter_nd,
        eval: eval_scatter_nd,
    }
}

fn check_updates(
    op: &'static str,
    data: TypeView<'_>,
    updates: TypeView<'_>,
    kind: Update,
) -> Result<(), VerifyError> {
    if data.dtype != updates.dtype {
        let (lhs, rhs) = (data.dtype, updates.dtype);
        return Err(VerifyError::DTypeClash { op, lhs, rhs });
    }
    if data.dtype == DType::Bool && kind != Update::Replace {
        return Err(VerifyError::DType {
            op,
            operand: "data",
            found: data.dtype,
            supported: "a numeric dtype for a `kind` other than `none`",
        });
    }
    Ok(())
}

/// Checks that `updates` has the shape `expected`.
fn check_shape(
    g: &Graph,
    op: &'static str,
    expected: &[Dim],
    updates: TypeView<'_>,
) -> Result<(), VerifyError> {
    if expected.len() != updates.rank() {
        return Err(VerifyError::Rank {
            op,
            operand: "updates",
            expected: expected.len().to_string(),
            found: updates.rank(),
        });
    }
    for (at, (&expected, &found)) in expected.iter().zip(updates.shape).enumerate() {
        let dimension = format!("dimension {at} of `updates`");
        agree(
            g,
            op,
            dimension,
            expected,
            found,
            "there is an update for each place",
        )?;
    }
    Ok(())
}

fn infer_scatter_elements(op: ScatterElements, g: &Graph) -> InferResult {
    const NAME: &str = "scatter_elements";
    let (data, indices, updates) = (g.ty(op.data(g)), g.ty(op.indices(g)), g.ty(op.updates(g)));
    check_updates(NAME, data, updates, op.kind(g))?;
    along_axis(g, NAME, data, indices, op.axis(g))?;
    check_shape(g, NAME, indices.shape, updates)?;
    Ok(data.to_owned().into())
}

fn infer_scatter_nd(op: ScatterNd, g: &Graph) -> InferResult {
    const NAME: &str = "scatter_nd";
    let (data, indices, updates) = (g.ty(op.data(g)), g.ty(op.indices(g)), g.ty(op.updates(g)));
    check_updates(NAME, data, updates, op.kind(g))?;
    let shape = Tuples::verified(NAME, g, data, indices, 0)?;
    check_shape(g, NAME, &shape, updates)?;
    Ok(data.to_owned().into())
}

fn eval_scatter_elements(
    op: ScatterElements,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, list, updates) = (operands[0], operands[1], operands[2]);
    let axis = resolve("scatter_elements", op.axis(cx.graph), data.rank());
    let axis = axis.expect("a verified axis lies in the rank");
    along_axis_fits(data, list, axis)?;
    check_count(updates, list.shape())?;
    let (strides, extent) = (row_major(data.shape()), data.shape()[axis]);
    let (bounds, list) = (op.bounds(cx.graph), (list.shape(), indices(list)));
    // What an update's own position adds to its place, row by row.
    let (&columns, outer) = list
        .0
        .split_last()
        .expect("a verified axis lies in the rank");
    let last = outer.len();
    let step = if axis == last { 0 } else { strides[last] };
    let (stride, mut index) = (strides[axis], vec![0; last]);
    let rows = list.1.chunks_exact(columns.max(1));
    let starts = rows.flat_map(|row| {
        let own = |at: usize| {
            if at == axis {
                0
            } else {
                index[at] * strides[at]
            }
        };
        let base: usize = (0..last).map(own).sum();
        advance(&mut index, outer);
        let start = move |(column, &place): (usize, &i64)| {
            let place = bounds.place(place, axis, extent)?;
            Ok(place.map(|place| base + column * step + place * stride))
        };
        row.iter().enumerate().map(start)
    });
    joined(cx, data, updates, op.kind(cx.graph), (starts, 1))
}

fn eval_scatter_nd(
    op: ScatterNd,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, list, updates) = (operands[0], operands[1], operands[2]);
    let tuples = Tuples::of(data, list, 0)?;
    check_count(updates, &tuples.shape)?;
    let starts = tuples.starts(op.bounds(cx.graph))?;
    let starts = starts.into_iter().map(Ok);
    joined(cx, data, updates, op.kind(cx.graph), (starts, tuples.width))
}

/// Checks that there is an update for each place of a run.
fn check_count(updates: &Tensor, shape: &[usize]) -> Result<(), EvalError> {
    if updates.shape() == shape {
        return Ok(());
    }
    let found = updates.shape();
    Err(EvalError::Shape(format!(
        "updates of shape {found:?} for places of shape {shape:?}"
    )))
}

/// Where slices start, `None` for one that is skipped, and the elements of a slice, 1 or more.
type Slices<I> = (I, usize);

/// `data` with the updates joined to `slices`, in order.
fn joined(
    cx: &EvalCx<'_>,
    data: &Tensor,
    updates: &Tensor,
    kind: Update,
    slices: Slices<impl Iterator<Item = Result<Option<usize>, EvalError>>>,
) -> Result<Tensor, EvalError> {
    cx.count(data.dtype(), data.shape())?;
    let shape = data.shape().to_vec();
    with_num!(data.dtype(), T => {
        let mut own = data.elements::<T>().to_vec();
        apply(&mut own, updates.elements::<T>(), slices, |old, new| combined(cx, kind, old, new))?;
        Ok(Tensor::of(shape, own))
    }, else {
        let mut own = data.elements::<bool>().to_vec();
        apply(&mut own, updates.elements::<bool>(), slices, |_, new| Ok(new))?;
        Ok(Tensor::of(shape, own))
    })
}

fn apply<T: Element>(
    elements: &mut [T],
    updates: &[T],
    (starts, width): Slices<impl Iterator<Item = Result<Option<usize>, EvalError>>>,
    combine: impl Fn(T, T) -> Result<T, EvalError>,
) -> Result<(), EvalError> {
    for (updates, start) in updates.chunks_exact(width).zip(starts) {
        let Some(start) = start? else { continue };
        for (old, &new) in elements[start..][..width].iter_mut().zip(updates) {
            *old = combine(*old, new)?;
        }
    }
    Ok(())
}

/// A step of integers without rounding.
type Exact = fn(i128, i128) -> Option<i128>;

/// One step, rounded to the dtype.
fn combined<T: Num>(cx: &EvalCx<'_>, kind: Update, old: T, new: T) -> Result<T, EvalError> {
    let (value, exact): (T, Exact) = match kind {
        Update::Replace => return Ok(new),
        Update::Min => return Ok(old.minimum(new)),
        Update::Max => return Ok(old.maximum(new)),
        Update::Add => (T::narrow(old.widen().add(new.widen())), i128::checked_add),
        Update::Mul => (T::narrow(old.widen().mul(new.widen())), i128::checked_mul),
    };
    if cx.overflow == Overflow::Wrap {
        return Ok(value);
    }
    match (old.to_i128(), new.to_i128()) {
        (Some(old), Some(new)) if exact(old, new) != value.to_i128() => Err(EvalError::Overflow),
        _ => Ok(value),
    }
}
