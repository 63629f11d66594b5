//! Reshapes, transposes and other data movement.

use mind_core::eval::bounds::Bounds;
use mind_core::eval::strided;
use mind_core::ops::index::gathered;
use mind_core::ops::join::concatenated;
use mind_core::ops::shape::permuted;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Element, Tensor, row_major};
use mind_ir::with_dtype;

use super::kernel::{one, operand};
use super::ranges::known_ranges;
use crate::call::{ArgState, Call, integers};

/// Reshapes `x` to the shape of the result, of which one extent may be inferred.
pub(crate) fn renamed(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let ty = call.g.ty(call.g.result(call.op));
    let mut shape = Vec::with_capacity(ty.rank());
    let mut open = None;
    for &dim in ty.shape {
        let extent = cx.extent(dim)?;
        if extent.is_none() && open.replace(shape.len()).is_some() {
            return Err(EvalError::NotEvaluable("a shape that only a run knows"));
        }
        shape.push(extent.map_or(1, |extent| usize::try_from(extent).unwrap_or(0)));
    }
    if let Some(at) = open {
        shape[at] = x
            .count()
            .checked_div(cx.count(x.dtype(), &shape)?)
            .unwrap_or(0);
    }
    if cx.count(x.dtype(), &shape)? != x.count() {
        let text = format!("{:?} cannot become {shape:?}", x.shape());
        return Err(EvalError::Shape(text));
    }
    one(x.clone().with_shape(shape))
}

/// Reshapes `x` to the shape in an operand: 0 copies an extent, -1 is inferred.
pub(crate) fn reshape(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, asked) = (
        operand(call, operands, "x"),
        integers(operand(call, operands, "shape")),
    );
    let wrong = || EvalError::Shape(format!("{:?} cannot become {asked:?}", x.shape()));
    let own = |(at, &extent): (usize, &i64)| match extent {
        0 if asked.len() == x.rank() => x.shape()[at] as i64,
        extent => extent,
    };
    let mut shape: Vec<i64> = asked.iter().enumerate().map(own).collect();
    let mut part = shape.iter().filter(|&&extent| extent != -1);
    let part = part.try_fold(1i64, |all, &extent| all.checked_mul(extent));
    let part = part.filter(|&part| part >= 0).ok_or_else(wrong)?;
    let mut open = shape.iter_mut().filter(|extent| **extent == -1);
    if let (Some(extent), None) = (open.next(), open.next()) {
        *extent = (x.count() as i64).checked_div(part).ok_or_else(wrong)?;
    }
    let shape = shape.into_iter().map(|extent| usize::try_from(extent).ok());
    let shape: Vec<usize> = shape.collect::<Option<_>>().ok_or_else(wrong)?;
    if cx.count(x.dtype(), &shape)? != x.count() {
        return Err(wrong());
    }
    one(x.clone().with_shape(shape))
}

/// `x` itself.
pub(crate) fn identity(call: &Call<'_>, _: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    one(operand(call, operands, "x").clone())
}

/// The dimensions in another order.
pub(crate) fn transpose(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let perm = call.ints("perm").known().unwrap_or_default();
    let rank = x.rank() as i64;
    let perm: Vec<i64> = perm
        .into_iter()
        .map(|axis| axis.rem_euclid(rank.max(1)))
        .collect();
    one(permuted(cx, x, &perm)?)
}

fn axis_of(call: &Call<'_>, rank: usize) -> usize {
    call.int("axis").unwrap_or(0).rem_euclid(rank.max(1) as i64) as usize
}

/// Tensors one after the other.
pub(crate) fn concat(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let start = call.index("values").unwrap_or(0);
    let values = &operands[start..][..call.values("values").len()];
    if values[0].rank() == 0 {
        return one(stacked(cx, values, 0)?);
    }
    if !call.flag("interleave") {
        return one(concatenated(cx, values, axis_of(call, values[0].rank()))?);
    }
    let axis = axis_of(call, values[0].rank());
    let stacked = stacked(cx, values, axis + 1)?;
    let mut shape = values[0].shape().to_vec();
    shape[axis] *= values.len();
    one(stacked.with_shape(shape))
}

/// Tensors along a new dimension.
pub(crate) fn stack(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let start = call.index("values").unwrap_or(0);
    let values = &operands[start..][..call.values("values").len()];
    one(stacked(cx, values, axis_of(call, values[0].rank() + 1))?)
}

fn stacked(cx: &EvalCx<'_>, values: &[&Tensor], axis: usize) -> Result<Tensor, EvalError> {
    let thin = |value: &&Tensor| {
        let mut shape = value.shape().to_vec();
        shape.insert(axis, 1);
        (*value).clone().with_shape(shape)
    };
    let values: Vec<Tensor> = values.iter().map(thin).collect();
    concatenated(cx, &values.iter().collect::<Vec<_>>(), axis)
}

/// Pieces along `axis`.
pub(crate) fn split(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let axis = axis_of(call, x.rank());
    let strides = row_major(x.shape());
    let mut start = 0;
    let mut pieces = Vec::new();
    for value in call.g.results(call.op) {
        let size = call.g.ty(value).shape[axis].fixed().unwrap_or(0) as usize;
        let mut axes: Vec<strided::Axis> = x
            .shape()
            .iter()
            .copied()
            .zip(strides.iter().copied())
            .collect();
        axes[axis].0 = size;
        pieces.push(strided::copy(cx, x, start * strides[axis], &axes)?);
        start += size;
    }
    Ok(pieces.into_iter().collect())
}

/// Gathers elements of `x`: `places` holds an offset for each result position, by dimension.
fn picked(cx: &EvalCx<'_>, x: &Tensor, places: &[Vec<usize>]) -> Result<Tensor, EvalError> {
    fn run<T: Element>(elements: &[T], strides: &[usize], places: &[Vec<usize>]) -> Vec<T> {
        let mut offsets = vec![0usize];
        for (places, stride) in places.iter().zip(strides) {
            let next = offsets
                .iter()
                .flat_map(|&offset| places.iter().map(move |place| offset + place * stride));
            offsets = next.collect();
        }
        offsets.into_iter().map(|offset| elements[offset]).collect()
    }
    let shape: Vec<usize> = places.iter().map(Vec::len).collect();
    cx.count(x.dtype(), &shape)?;
    let strides = row_major(x.shape());
    Ok(with_dtype!(x.dtype(), T => Tensor::of(shape, run(x.elements::<T>(), &strides, places))))
}

/// `slice_by_index`.
pub(crate) fn by_index(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let ranges = known_ranges(call, operands, x)?;
    let places: Vec<Vec<usize>> = ranges
        .iter()
        .map(|range| {
            (0..range.count)
                .map(|step| (range.start + step * range.step) as usize)
                .collect()
        })
        .collect();
    let shape = ranges
        .iter()
        .filter(|range| !range.squeezed)
        .map(|range| range.count as usize);
    one(picked(cx, x, &places)?.with_shape(shape.collect()))
}

/// `slice_by_size`.
pub(crate) fn by_size(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let begin = integers(operand(call, operands, "begin"));
    let sizes = integers(operand(call, operands, "size"));
    let mut places = Vec::with_capacity(x.rank());
    for (at, &extent) in x.shape().iter().enumerate() {
        let extent = extent as i64;
        let start = if begin[at] < 0 {
            begin[at] + extent
        } else {
            begin[at]
        };
        let end = if sizes[at] == -1 {
            extent
        } else {
            start.saturating_add(sizes[at])
        };
        if start < 0 || end > extent {
            return Err(EvalError::IndexOutOfBounds {
                index: start,
                axis: at,
                extent: extent as usize,
            });
        }
        places.push((start as usize..end.max(start) as usize).collect());
    }
    one(picked(cx, x, &places)?)
}

/// Gathers slices at `indices`; a negative index counts from the end.
pub(crate) fn gather(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, indices) = (
        operand(call, operands, "x"),
        operand(call, operands, "indices"),
    );
    let axis = axis_of(call, x.rank());
    let batch = call.int("batch_dims").unwrap_or(0).max(0) as usize;
    if batch > axis || batch > indices.rank() {
        return Err(EvalError::Shape(format!("{batch} batch dimensions")));
    }
    if batch > 0 {
        return one(super::place::batched(cx, x, indices, axis, batch)?);
    }
    let own = Tensor::of(indices.shape().to_vec(), integers(indices));
    one(gathered(cx, x, &own, axis, Bounds::FromEnd)?)
}

/// Elements at `indices` along `axis`.
pub(crate) fn along_axis(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (x, indices) = (
        operand(call, operands, "x"),
        operand(call, operands, "indices"),
    );
    let axis = axis_of(call, x.rank());
    let strides = row_major(x.shape());
    let extent = x.shape()[axis] as i64;
    cx.count(x.dtype(), indices.shape())?;
    let mut index = vec![0usize; x.rank()];
    let mut offsets = Vec::with_capacity(indices.count());
    for own in integers(indices) {
        let place = if own < 0 { own + extent } else { own };
        if !(0..extent).contains(&place) {
            return Err(EvalError::IndexOutOfBounds {
                index: own,
                axis,
                extent: extent as usize,
            });
        }
        let at = index
            .iter()
            .enumerate()
            .map(|(dim, &step)| strides[dim] * if dim == axis { place as usize } else { step });
        offsets.push(at.sum::<usize>());
        mind_ir::tensor::advance(&mut index, indices.shape());
    }
    if offsets.iter().any(|&offset| offset >= x.count()) {
        return Err(EvalError::Shape("`indices` reach past `x`".to_owned()));
    }
    one(with_dtype!(x.dtype(), T => {
        let elements = x.elements::<T>();
        Tensor::of(indices.shape().to_vec(), offsets.iter().map(|&at| elements[at]).collect::<Vec<T>>())
    }))
}

/// Repeated along each dimension.
pub(crate) fn tile(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let reps = integers(operand(call, operands, "reps"));
    let shape: Vec<usize> = x
        .shape()
        .iter()
        .zip(&reps)
        .map(|(extent, &times)| extent * times.max(0) as usize)
        .collect();
    cx.count(x.dtype(), &shape)?;
    let places: Vec<Vec<usize>> = shape
        .iter()
        .zip(x.shape())
        .map(|(&all, &extent)| (0..all).map(|at| at % extent).collect())
        .collect();
    one(picked(cx, x, &places)?)
}

/// Reverses `axes`.
pub(crate) fn reverse(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let rank = x.rank() as i64;
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => axes,
        _ => (0..rank).collect(),
    };
    let places: Vec<Vec<usize>> = (0..x.rank())
        .map(|at| {
            let own = 0..x.shape()[at];
            if axes.contains(&(at as i64)) || axes.contains(&(at as i64 - rank)) {
                own.rev().collect()
            } else {
                own.collect()
            }
        })
        .collect();
    one(picked(cx, x, &places)?)
}

/// Pads with a constant, a reflection or the edge.
pub(crate) fn pad(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let pads = integers(operand(call, operands, "pad"));
    let first = x.rank() - pads.len() / 2;
    let mode = call.word("mode");
    let mut shape = x.shape().to_vec();
    let mut places: Vec<Vec<Option<usize>>> = Vec::with_capacity(x.rank());
    for (at, &extent) in x.shape().iter().enumerate() {
        let (before, behind) = match at.checked_sub(first) {
            Some(at) => (pads[2 * at], pads[2 * at + 1]),
            None => (0, 0),
        };
        let extent = extent as i64;
        shape[at] = (extent + before + behind) as usize;
        cx.count(x.dtype(), &shape[..=at])?;
        let place = |at: i64| match mode {
            "reflect" if at < 0 => Some(-at as usize),
            "reflect" if at >= extent => Some((2 * extent - 2 - at) as usize),
            "replicate" => Some(at.clamp(0, extent - 1) as usize),
            _ => (0..extent).contains(&at).then_some(at as usize),
        };
        places.push((-before..extent + behind).map(place).collect());
    }
    cx.count(x.dtype(), &shape)?;
    let whole: Vec<Vec<usize>> = places
        .iter()
        .map(|all| all.iter().map(|place| place.unwrap_or(0)).collect())
        .collect();
    let copied = picked(cx, x, &whole)?;
    let value = super::kernel::number(x, call.float("constant_val").unwrap_or(0.0));
    one(with_dtype!(x.dtype(), T => {
        let (value, mut elements) = (value.elements::<T>()[0], copied.elements::<T>().to_vec());
        let mut index = vec![0usize; shape.len()];
        for element in &mut elements {
            if index.iter().zip(&places).any(|(&at, all)| all[at].is_none()) {
                *element = value;
            }
            mind_ir::tensor::advance(&mut index, &shape);
        }
        Tensor::of(shape, elements)
    }))
}
