//! Lowers gathers. Gathers of slices along an axis keep their form, with normalised indices. Gathers of elements and of
//! slices at tuples become gathers from the flattened data, at linear indices.

use mind_core::axes::resolve;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::{Add, Maximum, Minimum, Mul};
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::Gather as CoreGather;
use mind_core::ops::logic::And;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor, row_major};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::index::{Gather, Slice};

use crate::broadcast::{BroadcastOperand, broadcast_operand, broadcast_with};
use crate::emit::{LowerKnown, Lowered, map, reshape, shape};
use crate::known::{Known, LONGEST};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (CoreGather::DEF, lower_slices),
    (GatherElements::DEF, lower_elements),
    (GatherNd::DEF, lower_nd),
];

/// Returns the extents of a value, if all are known and it has between 1 and `most` elements.
fn extents(b: &Builder<'_>, value: ValueId, most: i64) -> Option<Vec<usize>> {
    let shape = b.graph.ty(value).static_shape()?;
    let count = shape
        .iter()
        .try_fold(1i64, |count, &extent| count.checked_mul(extent))?;
    let fits = (1..=most).contains(&count);
    fits.then(|| shape.into_iter().map(|extent| extent as usize).collect())
}

/// Returns the zeros that `op` gives if it reads no element of `data`; `None` if it may read one.
fn nothing(b: &mut Builder<'_>, op: OpId, data: ValueId, bounds: Bounds) -> Option<ValueId> {
    let is_empty = |value: ValueId| {
        let shape = b.graph.ty(value).static_shape();
        shape.is_some_and(|shape| shape.contains(&0))
    };
    let ty = b.graph.ty(b.graph.result(op)).to_owned();
    let skips = bounds == Bounds::Skip && is_empty(data) && ty.view().count().is_some();
    if !skips && !is_empty(b.graph.result(op)) {
        return None;
    }
    let zero = Tensor::new(Vec::new(), Buffer::zeros(ty.dtype, 1));
    Some(mind_core::splat(b, ty.view(), &zero))
}

/// Lowers a gather of slices. The extent of the axis has to be known, unless every index must be in bounds.
fn lower_slices(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = CoreGather::from_id(op);
    let (data, indices) = (view.data(b.graph), view.indices(b.graph));
    let (axis, bounds) = (view.axis(b.graph), view.bounds(b.graph));
    let own = b.graph.ty(data);
    let axis = resolve("gather", axis, own.rank())?;
    let gather = Gather::with(axis as i64);
    if bounds == Bounds::Strict {
        return gather.build(b, data, indices).map(Some);
    }
    let Some(extent) = own.shape[axis].fixed() else {
        return Ok(None);
    };
    if bounds == Bounds::Skip && extent == 0 {
        return Ok(nothing(b, op, data, bounds));
    }
    let index = Index {
        value: indices,
        extent: extent as usize,
        stride: 1,
    };
    let value = map(b, &[indices], |b, scalars| {
        let index = counted(b, scalars[0], extent as usize, bounds)?;
        let outside = number(b, if bounds == Bounds::Skip { 0 } else { -1 });
        let inside = within(b, index, extent as usize)?;
        Select::build(b, inside, index, outside)
    })?;
    let picked = gather.build(b, data, value)?;
    if bounds != Bounds::Skip {
        return Ok(Some(picked));
    }
    let inside = mask(b, &[index])?;
    let (rank, whole) = (b.graph.ty(indices).rank(), shape(b, picked));
    let dims: Vec<Option<usize>> = (axis..axis + rank).map(Some).collect();
    let other_dims: Vec<Option<usize>> = (0..whole.len()).map(Some).collect();
    let operand = BroadcastOperand {
        value: inside,
        dims: &dims,
        other: picked,
        other_dims: &other_dims,
        shape: &whole,
    };
    let inside = broadcast_operand(b, &operand)?;
    or_zero(b, inside, picked).map(Some)
}

/// Emits `picked`, with 0 where `inside` is false.
fn or_zero(b: &mut Builder<'_>, inside: ValueId, picked: ValueId) -> Lowered {
    let zero = Tensor::new(Vec::new(), Buffer::zeros(b.graph.ty(picked).dtype, 1));
    map(b, &[inside, picked], |b, scalars| {
        let zero = mind_core::constant(b, &zero);
        Select::build(b, scalars[0], scalars[1], zero)
    })
}

fn lower_elements(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = GatherElements::from_id(op);
    let (data, indices) = (view.data(b.graph), view.indices(b.graph));
    let bounds = view.bounds(b.graph);
    if let Some(zeros) = nothing(b, op, data, bounds) {
        return Ok(Some(zeros));
    }
    let Some((own, list)) = extents(b, data, i64::MAX).zip(extents(b, indices, LONGEST)) else {
        return Ok(None);
    };
    let axis = resolve("gather_elements", view.axis(b.graph), own.len())?;
    let strides = row_major(&own);
    let index = Index {
        value: indices,
        extent: own[axis],
        stride: strides[axis],
    };
    let others: Vec<usize> = (0..own.len())
        .map(|at| if at == axis { 0 } else { strides[at] })
        .collect();
    let row = [Dim::Fixed(own.iter().product::<usize>() as i64)];
    let row = reshape(b, data, &row, &[])?;
    let starts = offsets(b, &list, &others);
    let positions = linear_indices(b, &[index], starts, bounds)?;
    let picked = Gather::with(0).build(b, row, positions.value)?;
    positions.masked(b, picked).map(Some)
}

fn lower_nd(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = GatherNd::from_id(op);
    let (data, indices) = (view.data(b.graph), view.indices(b.graph));
    let (bounds, batch) = (view.bounds(b.graph), view.batch_dims(b.graph) as usize);
    if let Some(zeros) = nothing(b, op, data, bounds) {
        return Ok(Some(zeros));
    }
    let Some((own, list)) = extents(b, data, i64::MAX).zip(extents(b, indices, LONGEST)) else {
        return Ok(None);
    };
    let (outer, length) = list.split_at(list.len() - 1);
    let (length, strides) = (length[0], row_major(&own));
    let width: usize = own[batch + length..].iter().product();
    let mut parts = Vec::with_capacity(length);
    for at in 0..length {
        let axis = batch + at;
        parts.push(Index {
            value: column(b, indices, outer, at)?,
            extent: own[axis],
            stride: strides[axis] / width,
        });
    }
    let mut others = vec![0; outer.len()];
    for (other, stride) in others.iter_mut().zip(&strides[..batch]) {
        *other = stride / width;
    }
    let mut rows = vec![Dim::Fixed((own.iter().product::<usize>() / width) as i64)];
    rows.extend(
        own[batch + length..]
            .iter()
            .map(|&extent| Dim::Fixed(extent as i64)),
    );
    let rows = reshape(b, data, &rows, &[])?;
    let starts = offsets(b, outer, &others);
    let positions = linear_indices(b, &parts, starts, bounds)?;
    let picked = Gather::with(0).build(b, rows, positions.value)?;
    positions.masked(b, picked).map(Some)
}

/// Emits entry `at` of every tuple.
fn column(b: &mut Builder<'_>, indices: ValueId, outer: &[usize], at: usize) -> Lowered {
    let rank = outer.len() + 1;
    let (mut starts, mut ends) = (vec![0; rank], vec![0; rank]);
    for (end, &extent) in ends.iter_mut().zip(outer) {
        *end = extent as i64;
    }
    (starts[rank - 1], ends[rank - 1]) = (at as i64, at as i64 + 1);
    let part = Slice::with(&starts, &ends, &vec![1; rank]).build(b, indices)?;
    let shape: Vec<Dim> = outer
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64))
        .collect();
    reshape(b, part, &shape, &[])
}

/// Emits a constant of `shape` with the dot product of index and `strides` at every position.
fn offsets(b: &mut Builder<'_>, shape: &[usize], strides: &[usize]) -> ValueId {
    let mut index = vec![0; shape.len()];
    let count = shape.iter().product();
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        let offset: usize = index
            .iter()
            .zip(strides)
            .map(|(at, stride)| at * stride)
            .sum();
        list.push(offset as i64);
        mind_ir::tensor::advance(&mut index, shape);
    }
    mind_core::constant(b, &Tensor::of(shape.to_vec(), list))
}

/// The indices along one axis.
struct Index {
    value: ValueId,
    extent: usize,
    stride: usize,
}

/// Linear indices into the flattened data, -1 for an index out of bounds.
struct LinearIndices {
    value: ValueId,
    /// Whether each index is in bounds, if others are skipped.
    inside: Option<ValueId>,
}

impl LinearIndices {
    /// Emits `picked`, with 0 where an index was out of bounds.
    fn masked(&self, b: &mut Builder<'_>, picked: ValueId) -> Lowered {
        let Some(inside) = self.inside else {
            return Ok(picked);
        };
        let (outer, whole) = (b.graph.ty(inside).static_shape(), b.graph.ty(picked));
        let rank = whole.rank();
        let mut thin = outer.unwrap_or_default();
        thin.resize(rank, 1);
        let thin: Vec<Dim> = thin.into_iter().map(Dim::Fixed).collect();
        let inside = reshape(b, inside, &thin, &[])?;
        let inside = broadcast_with(b, inside, picked)?;
        or_zero(b, inside, picked)
    }
}

/// Emits linear indices: `starts` plus each index times its stride.
fn linear_indices(
    b: &mut Builder<'_>,
    parts: &[Index],
    starts: ValueId,
    bounds: Bounds,
) -> Result<LinearIndices, Box<mind_ir::verify::VerifyError>> {
    let mut operands = vec![starts];
    operands.extend(parts.iter().map(|part| part.value));
    let value = map(b, &operands, |b, scalars| {
        let (mut position, mut inside) = (scalars[0], None);
        for (part, &index) in parts.iter().zip(&scalars[1..]) {
            let index = counted(b, index, part.extent, bounds)?;
            if bounds != Bounds::Clamp {
                let own = within(b, index, part.extent)?;
                inside = Some(match inside {
                    Some(inside) => And::build(b, inside, own)?,
                    None => own,
                });
            }
            let stride = number(b, part.stride as i64);
            let step = Mul::build(b, index, stride)?;
            position = Add::build(b, position, step)?;
        }
        match inside {
            None => Ok(position),
            Some(inside) => {
                let outside = number(b, if bounds == Bounds::Skip { 0 } else { -1 });
                Select::build(b, inside, position, outside)
            }
        }
    })?;
    let inside = match bounds {
        Bounds::Skip if !parts.is_empty() => Some(mask(b, parts)?),
        Bounds::Skip | Bounds::Strict | Bounds::FromEnd | Bounds::Clamp => None,
    };
    Ok(LinearIndices { value, inside })
}

/// Emits a mask of the positions where every index is in bounds.
fn mask(b: &mut Builder<'_>, parts: &[Index]) -> Lowered {
    let operands: Vec<ValueId> = parts.iter().map(|part| part.value).collect();
    map(b, &operands, |b, scalars| {
        let mut inside = None;
        for (part, &index) in parts.iter().zip(scalars) {
            let index = counted(b, index, part.extent, Bounds::Skip)?;
            let own = within(b, index, part.extent)?;
            inside = Some(match inside {
                Some(inside) => And::build(b, inside, own)?,
                None => own,
            });
        }
        Ok(inside.expect("at least one index"))
    })
}

pub(crate) fn number(b: &mut Builder<'_>, value: i64) -> ValueId {
    mind_core::constant(b, &Tensor::scalar(value))
}

/// Emits an index as `i64`: counted from the front with `from_end`, clamped with `clamp`.
pub(crate) fn counted(
    b: &mut Builder<'_>,
    index: ValueId,
    extent: usize,
    bounds: Bounds,
) -> Lowered {
    let index = match b.graph.ty(index).dtype {
        DType::I64 => index,
        _ => Cast::with(DType::I64).build(b, index)?,
    };
    match bounds {
        Bounds::Strict | Bounds::Skip => Ok(index),
        Bounds::FromEnd => {
            let (zero, extent) = (number(b, 0), number(b, extent as i64));
            let negative = Compare::with(Direction::Lt).build(b, index, zero)?;
            let other = Add::build(b, index, extent)?;
            Select::build(b, negative, other, index)
        }
        Bounds::Clamp => {
            let (zero, last) = (number(b, 0), number(b, extent as i64 - 1));
            let index = Minimum::build(b, index, last)?;
            Maximum::build(b, index, zero)
        }
    }
}

pub(crate) fn within(b: &mut Builder<'_>, index: ValueId, extent: usize) -> Lowered {
    let (zero, extent) = (number(b, 0), number(b, extent as i64));
    let first = Compare::with(Direction::Ge).build(b, index, zero)?;
    let last = Compare::with(Direction::Lt).build(b, index, extent)?;
    And::build(b, first, last)
}
