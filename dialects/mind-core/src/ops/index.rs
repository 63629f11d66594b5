//! Ops that read a part of a tensor.

use mind_ir::attr::OPEN_END;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Element, Tensor};
use mind_ir::types::{DType, Dim, Shape, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_dtype;

use crate::axes;
use crate::eval::bounds::{Bounds, indices};
use crate::eval::strided::{self, strides_of};

ops! {
    /// The single element at `indices`.
    ///
    /// Shapes: `[]`.
    /// Errors: E4006 not one index per axis; E6001 when run, out of bounds.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing".
    Index = "core.index" {
        operands: (input: Any),
        attrs: { indices: Ints },
        traits: [Pure],
        names: { core: "Index", mic1: "index" },
        infer: infer_index,
        eval: eval_index,
    }

    /// The elements from `starts` up to but excluding `ends`, every `steps`-th, along each axis.
    ///
    /// Shapes: `ceil((end - start) / step)` per axis, 0 where the range is empty.
    /// Errors: E3003 bound negative or past the extent, E4007 not one entry per axis, E4008 step not
    /// positive.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing".
    Slice = "core.slice" {
        operands: (input: Any),
        attrs: { starts: Ints, ends: Ints, steps: Ints },
        traits: [Pure],
        names: { core: "Slice", mic1: "slice" },
        infer: infer_slice,
        eval: eval_slice,
    }

    /// The slices of `data` along `axis` at `indices`.
    ///
    /// `bounds` selects which indices are valid: `strict`, from 0 to below the extent; `from_end`, also from minus the
    /// extent; `clamp`, any, clamped to the axis; `skip`, any, and reads outside give a slice of zeros.
    ///
    /// Shapes: `data[..axis] ++ indices ++ data[axis + 1..]`.
    /// Errors: E3002 `data` of rank 0 or a result of rank above 32, E3004 axis out of range, E4011
    /// indices not i32 or i64, E4012 an axis other than 0, or bounds other than `strict`, in profile `core-v1`; E6001
    /// when run, index out of bounds.
    /// Source: mind-spec v1.0 ir.md, "Indexing and slicing"; mic@2 `gth`.
    Gather = "core.gather" {
        operands: (data: Any, indices: Any),
        attrs: { axis "ax": Int = 0, bounds "bd": Bounds = Bounds::Strict },
        traits: [Pure],
        names: { core: "Gather", mic1: "gather", mic2: "gth" },
        infer: infer_gather,
        eval: eval_gather,
        core_v1: |op, g| op.axis(g) == 0 && op.bounds(g) == Bounds::Strict,
    }
}

fn infer_index(op: Index, g: &Graph) -> InferResult {
    let (input, found) = (g.ty(op.input(g)), op.indices(g).len());
    if found != input.rank() {
        let rank = input.rank();
        return Err(Box::new(VerifyError::IndexCount {
            op: "index",
            rank,
            found,
        }));
    }
    Ok(input.with_shape([]).into())
}

fn infer_slice(op: Slice, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    sliced_type(g, input, op.starts(g), op.ends(g), op.steps(g))
}

/// Infers the type of a slice of `input`.
///
/// # Errors
///
/// E3003 bound negative or past the extent, E4007 not one entry per axis, E4008 step not
/// positive.
pub fn sliced_type(
    g: &Graph,
    input: TypeView<'_>,
    starts: &[i64],
    ends: &[i64],
    steps: &[i64],
) -> InferResult {
    let rank = input.rank();
    if [starts.len(), ends.len(), steps.len()] != [rank; 3] {
        let (starts, ends, steps) = (starts.len(), ends.len(), steps.len());
        return Err(Box::new(VerifyError::SliceLists {
            rank,
            starts,
            ends,
            steps,
        }));
    }
    let mut shape = Shape::new();
    for (dimension, &extent) in input.shape.iter().enumerate() {
        let (start, end, step) = (starts[dimension], ends[dimension], steps[dimension]);
        if step <= 0 {
            return Err(Box::new(VerifyError::SliceStep { dimension, step }));
        }
        let beyond = extent
            .fixed()
            .is_some_and(|extent| end != OPEN_END && end > extent);
        if start < 0 || end < 0 || beyond {
            let extent = extent.display(g.symbols()).to_string();
            return Err(Box::new(VerifyError::SliceBounds {
                dimension,
                start,
                end,
                extent,
            }));
        }
        shape.push(sliced_extent(extent, start, end, step));
    }
    Ok(input.with_shape(shape).into())
}

fn sliced_extent(extent: Dim, start: i64, end: i64, step: i64) -> Dim {
    match (extent, end) {
        (Dim::Fixed(extent), OPEN_END) => Dim::Fixed(range_len(start, extent, step)),
        (symbol, OPEN_END) if start == 0 && step == 1 => symbol,
        (_, OPEN_END) => Dim::Dynamic,
        _ => Dim::Fixed(range_len(start, end, step)),
    }
}

/// Returns how many of `start`, `start + step`, ... are below `end`. `step` is positive.
pub(crate) fn range_len(start: i64, end: i64, step: i64) -> i64 {
    let span = i128::from(end) - i128::from(start);
    let step = i128::from(step);
    i64::try_from((span + step - 1).div_euclid(step).max(0)).unwrap_or(i64::MAX)
}

fn infer_gather(op: Gather, g: &Graph) -> InferResult {
    gathered_type(g.ty(op.data(g)), g.ty(op.indices(g)), op.axis(g))
}

/// Infers the type of the slices of `data` along `axis` at `indices`.
///
/// # Errors
///
/// E3002 `data` of rank 0 or a result of rank above 32, E3004 axis out of range, E4011 indices
/// not i32 or i64.
pub fn gathered_type(data: TypeView<'_>, indices: TypeView<'_>, axis: i64) -> InferResult {
    if !matches!(indices.dtype, DType::I32 | DType::I64) {
        return Err(Box::new(VerifyError::GatherIndices {
            found: indices.dtype,
        }));
    }
    if data.rank() == 0 {
        let (op, operand, expected) = ("gather", "data", "1 or more".to_owned());
        return Err(Box::new(VerifyError::Rank {
            op,
            operand,
            expected,
            found: 0,
        }));
    }
    axes::check_rank("gather", data.rank() - 1 + indices.rank())?;
    let axis = axes::resolve("gather", axis, data.rank())?;
    let (before, after) = (&data.shape[..axis], &data.shape[axis + 1..]);
    let shape = before.iter().chain(indices.shape).chain(after).copied();
    Ok(data.with_shape(shape).into())
}

/// Evaluates the read of a single element.
fn eval_index(op: Index, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    element(cx, operands[0], op.indices(cx.graph))
}

/// Returns the element at `indices`, one per axis.
///
/// # Errors
///
/// E6001 out of bounds.
pub fn element(cx: &EvalCx<'_>, input: &Tensor, indices: &[i64]) -> Result<Tensor, EvalError> {
    let pairs = indices.iter().zip(input.shape()).enumerate();
    let positions: Result<Vec<usize>, EvalError> = pairs
        .map(|(axis, (&index, &extent))| position(index, axis, extent))
        .collect();
    let offset = positions?
        .iter()
        .zip(strides_of(input))
        .map(|(at, stride)| at * stride)
        .sum();
    strided::copy(cx, input, offset, &[])
}

/// Evaluates a slice.
fn eval_slice(op: Slice, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    sliced(cx, operands[0], op.starts(g), op.ends(g), op.steps(g))
}

/// Copies a verified range of every axis.
///
/// # Errors
///
/// A bound past the extent, E6004 too large.
pub fn sliced(
    cx: &EvalCx<'_>,
    input: &Tensor,
    starts: &[i64],
    ends: &[i64],
    steps: &[i64],
) -> Result<Tensor, EvalError> {
    let strides = strides_of(input);
    let (mut base, mut parts) = (0, Vec::with_capacity(input.rank()));
    for (axis, &extent) in input.shape().iter().enumerate() {
        let (start, end, step) = (starts[axis], ends[axis], steps[axis]);
        let end = match end {
            OPEN_END => extent as i64,
            end if end <= extent as i64 => end,
            end => {
                let text = format!(
                    "slice bounds {start}:{end} do not fit dimension {axis} of extent {extent}"
                );
                return Err(EvalError::Shape(text));
            }
        };
        // Bounds and strides are multiplied only if they are inside of the tensor, because the product may overflow
        // otherwise.
        let len = range_len(start, end, step) as usize;
        base += if len > 0 {
            start as usize * strides[axis]
        } else {
            0
        };
        parts.push((
            len,
            if len > 1 {
                step as usize * strides[axis]
            } else {
                0
            },
        ));
    }
    strided::copy(cx, input, base, &parts)
}

/// Evaluates a gather along an axis.
fn eval_gather(op: Gather, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let axis = axes::resolve("gather", op.axis(cx.graph), operands[0].rank());
    let axis = axis.expect("a verified axis lies in the rank");
    gathered(cx, operands[0], operands[1], axis, op.bounds(cx.graph))
}

/// Gathers the slices of `data` along `axis` at `indices`, which are `i32` or `i64`.
///
/// # Errors
///
/// E6001 out of bounds, E6004 too large.
pub fn gathered(
    cx: &EvalCx<'_>,
    data: &Tensor,
    list: &Tensor,
    axis: usize,
    bounds: Bounds,
) -> Result<Tensor, EvalError> {
    let (before, extent, after) = (
        &data.shape()[..axis],
        data.shape()[axis],
        &data.shape()[axis + 1..],
    );
    let places = indices(list).into_iter();
    let places: Result<Vec<Option<usize>>, EvalError> = places
        .map(|index| bounds.position(index, axis, extent))
        .collect();
    let (places, shape) = (places?, [before, list.shape(), after].concat());
    let count = cx.count(data.dtype(), &shape)?;
    let (stacks, size) = (before.iter().product(), after.iter().product());
    with_dtype!(data.dtype(), T => {
        let elements = match count {
            0 => Vec::new(),
            _ => picked(data.elements::<T>(), [stacks, extent, size], &places),
        };
        Ok(Tensor::of(shape, elements))
    })
}

/// Gathers the slices at `places` from each of `stacks` stacks of `extent` slices with `size` elements; zeros for
/// `None`.
fn picked<T: Element>(
    data: &[T],
    [stacks, extent, size]: [usize; 3],
    places: &[Option<usize>],
) -> Vec<T> {
    let mut elements = Vec::with_capacity(stacks * places.len() * size);
    for stack in 0..stacks {
        for place in places {
            match place {
                Some(place) => {
                    let first = (stack * extent + place) * size;
                    elements.extend_from_slice(&data[first..][..size]);
                }
                None => elements.resize(elements.len() + size, T::ZERO),
            }
        }
    }
    elements
}

/// Returns `index` as a position on an axis. A negative index is out of bounds.
fn position(index: i64, axis: usize, extent: usize) -> Result<usize, EvalError> {
    let place = Bounds::Strict.position(index, axis, extent)?;
    Ok(place.expect("strict bounds skip nothing"))
}
