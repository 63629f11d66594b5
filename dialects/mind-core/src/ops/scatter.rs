//! Scatters: writes at indices that a tensor lists.

use mind_ir::eval::{EvalCx, EvalError, Overflow};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Num, Tensor, advance, row_major};
use mind_ir::types::{DType, Dim, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_num;
use mind_ir::{OpId, ops};

use crate::axes::resolve;
use crate::eval::bounds::{Bounds, indices};
use crate::extent::agree;
use crate::indexing::{Tuples, along_axis, along_axis_fits};

mind_ir::words! {
    /// The effect of an update on an element.
    pub enum Update {
        /// Replaces the element.
        Replace = "none",
        /// Adds to it.
        Add = "add",
        /// Multiplies it.
        Mul = "mul",
        /// Keeps the smaller of both, as `Minimum` does.
        Min = "min",
        /// Keeps the larger of both, as `Maximum` does.
        Max = "max",
    }
}

ops! {
    /// `data`, with each of `updates` applied to the element whose index is the element of `indices` along `axis`, and
    /// the index of the update along the other axes.
    ///
    /// `kind` selects the combining function: `none` replaces the element; `add`, `mul`, `min` and `max` combine both,
    /// and each step is rounded to the dtype. `bounds` is as for `GatherElements`; a skipped update is dropped.
    ///
    /// Shapes: as `data`; `updates` as `indices`, which has the rank of `data` and along the other axes at most its
    /// extents.
    /// Order: updates are applied in row-major order of `updates`, so that with `none` the last one wins.
    /// Errors: E2004 `data` and `updates` of different dtypes, E2005 `indices` not i32 or i64, or `bool` for a `kind`
    /// other than `none`, E3002 different ranks, E3003 extents do not match, E3004 axis out of range; E6001 when run,
    /// index out of bounds.
    /// Source: this compiler; ONNX `ScatterElements`, MIL `scatter_along_axis`.
    ScatterElements = "core.scatter_elements" {
        operands: (data: Any, indices: Index, updates: Any),
        attrs: { axis "ax": Int = 0, kind "k": Update = Update::Replace, bounds "bd": Bounds = Bounds::Strict },
        traits: [Pure, Extended],
        names: { core: "ScatterElements", mic1: "scatter_elements" },
        infer: infer_scatter_elements,
        eval: eval_scatter_elements,
    }

    /// `data`, with each slice of `updates` applied to the slice at its tuple in the last dimension of `indices`.
    ///
    /// `kind` and `bounds` are as for `ScatterElements`.
    ///
    /// Shapes: as `data`; `updates` is `indices[..-1] ++ data[indices[-1]..]`.
    /// Order: as `ScatterElements`.
    /// Errors: E2004 `data` and `updates` of different dtypes, E2005 `indices` not i32 or i64, or `bool` for a `kind`
    /// other than `none`, E3002 ranks that do not match, E3003 extents of `updates` differ, or the length of the tuples
    /// is not known; E6001 when run, index out of bounds.
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

/// The target addresses of a scatter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScatterTargets {
    /// The dimensions of the list of index tuples: for each its extent, and the stride in `data` of a tuple's own
    /// position along it.
    tuples: Vec<(usize, usize)>,
    /// For each index of a tuple, the extent and the stride of its dimension of `data`, and the axis.
    axes: Vec<(usize, usize, usize)>,
    /// The number of elements of a slice.
    width: usize,
    bounds: Bounds,
}

impl ScatterTargets {
    /// Returns the targets of `op`, a verified scatter to `data` with indices of shape `list`; `None` for other ops.
    pub fn of(g: &Graph, op: OpId, data: &[usize], list: &[usize]) -> Option<ScatterTargets> {
        if let Some(op) = g.view::<ScatterElements>(op) {
            Some(op.targets(g, data, list))
        } else {
            Some(g.view::<ScatterNd>(op)?.targets(g, data, list))
        }
    }

    /// Combines each slice of `updates` with its target, in order. `indices` returns the elements of the index tensor
    /// in row-major order.
    ///
    /// # Errors
    ///
    /// E6001 out of bounds, and the errors of `combine`.
    pub fn join<T: Copy>(
        &self,
        data: &mut [T],
        indices: impl Fn(usize) -> i64,
        updates: &[T],
        combine: impl Fn(T, T) -> Result<T, EvalError>,
    ) -> Result<(), EvalError> {
        let empty = |&(extent, _): &(usize, usize)| extent == 0;
        if self.width == 0 || self.tuples.iter().any(empty) {
            return Ok(());
        }
        let (&(columns, step), outer) = self.tuples.split_last().unwrap_or((&(1, 0), &[]));
        let extents: Vec<usize> = outer.iter().map(|&(extent, _)| extent).collect();
        let mut position = vec![0; outer.len()];
        let (mut index, mut update) = (0, 0);
        loop {
            let mut row = 0;
            for (at, &(_, stride)) in outer.iter().enumerate() {
                row += position[at] * stride;
            }
            for column in 0..columns {
                let (mut start, mut is_skipped) = (row + column * step, false);
                for &(extent, stride, axis) in &self.axes {
                    match self.bounds.position(indices(index), axis, extent)? {
                        Some(position) => start += position * stride,
                        None => is_skipped = true,
                    }
                    index += 1;
                }
                if !is_skipped {
                    let (old, new) = (&mut data[start..][..self.width], &updates[update..]);
                    for at in 0..self.width {
                        old[at] = combine(old[at], new[at])?;
                    }
                }
                update += self.width;
            }
            if !advance(&mut position, &extents) {
                return Ok(());
            }
        }
    }
}

impl ScatterElements {
    fn targets(self, g: &Graph, data: &[usize], list: &[usize]) -> ScatterTargets {
        let axis = resolve("scatter_elements", self.axis(g), data.len());
        let axis = axis.expect("a verified axis lies in the rank");
        let strides = row_major(data);
        let own = |at: usize| if at == axis { 0 } else { strides[at] };
        ScatterTargets {
            tuples: list
                .iter()
                .enumerate()
                .map(|(at, &n)| (n, own(at)))
                .collect(),
            axes: vec![(data[axis], strides[axis], axis)],
            width: 1,
            bounds: self.bounds(g),
        }
    }
}

impl ScatterNd {
    fn targets(self, g: &Graph, data: &[usize], list: &[usize]) -> ScatterTargets {
        let (&length, outer) = list.split_last().expect("verified tuples");
        let strides = row_major(data);
        ScatterTargets {
            tuples: outer.iter().map(|&extent| (extent, 0)).collect(),
            axes: (0..length).map(|at| (data[at], strides[at], at)).collect(),
            width: data[length..].iter().product(),
            bounds: self.bounds(g),
        }
    }
}

fn eval_scatter_elements(
    op: ScatterElements,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, list, updates) = (operands[0], operands[1], operands[2]);
    let axis = resolve("scatter_elements", op.axis(cx.graph), data.rank());
    along_axis_fits(data, list, axis.expect("a verified axis lies in the rank"))?;
    check_count(updates, list.shape())?;
    let targets = op.targets(cx.graph, data.shape(), list.shape());
    joined(cx, [data, list, updates], op.kind(cx.graph), &targets)
}

fn eval_scatter_nd(
    op: ScatterNd,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (data, list, updates) = (operands[0], operands[1], operands[2]);
    let (length, outer) = list.shape().split_last().expect("verified tuples");
    check_count(updates, &[outer, &data.shape()[*length..]].concat())?;
    let targets = op.targets(cx.graph, data.shape(), list.shape());
    joined(cx, [data, list, updates], op.kind(cx.graph), &targets)
}

/// Checks that the number of updates of a run matches the indices.
fn check_count(updates: &Tensor, shape: &[usize]) -> Result<(), EvalError> {
    if updates.shape() == shape {
        return Ok(());
    }
    let found = updates.shape();
    Err(EvalError::Shape(format!(
        "updates of shape {found:?} for places of shape {shape:?}"
    )))
}

/// Evaluates a scatter: the operands are data, indices and updates.
fn joined(
    cx: &EvalCx<'_>,
    [data, list, updates]: [&Tensor; 3],
    kind: Update,
    targets: &ScatterTargets,
) -> Result<Tensor, EvalError> {
    cx.count(data.dtype(), data.shape())?;
    let shape = data.shape().to_vec();
    let indices = indices(list);
    let index = |at: usize| indices[at];
    with_num!(data.dtype(), T => {
        let mut own = data.elements::<T>().to_vec();
        let new = updates.elements::<T>();
        targets.join(&mut own, index, new, |old, new| combined(cx, kind, old, new))?;
        Ok(Tensor::of(shape, own))
    }, else {
        let mut own = data.elements::<bool>().to_vec();
        targets.join(&mut own, index, updates.elements::<bool>(), |_, new| Ok(new))?;
        Ok(Tensor::of(shape, own))
    })
}

/// A combining function on exact integers; `None` on overflow of `i128`.
type Exact = fn(i128, i128) -> Option<i128>;

impl Update {
    /// Combines an element with its update and rounds to the dtype; integers wrap.
    pub fn apply<T: Num>(self, old: T, new: T) -> T {
        match self {
            Update::Replace => new,
            Update::Add => T::narrow(old.widen().add(new.widen())),
            Update::Mul => T::narrow(old.widen().mul(new.widen())),
            Update::Min => old.minimum(new),
            Update::Max => old.maximum(new),
        }
    }
}

/// Combines an element with its update; integers overflow as `cx` specifies.
fn combined<T: Num>(cx: &EvalCx<'_>, kind: Update, old: T, new: T) -> Result<T, EvalError> {
    let value = kind.apply(old, new);
    let exact: Exact = match kind {
        Update::Add => i128::checked_add,
        Update::Mul => i128::checked_mul,
        Update::Replace | Update::Min | Update::Max => return Ok(value),
    };
    if cx.overflow == Overflow::Wrap {
        return Ok(value);
    }
    match (old.to_i128(), new.to_i128()) {
        (Some(old), Some(new)) if exact(old, new) != value.to_i128() => Err(EvalError::Overflow),
        _ => Ok(value),
    }
}
