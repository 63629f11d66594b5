//! Elements put at places, and elements taken from places that are known when importing.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::DynamicUpdateSlice;
use mind_core::ops::elementwise::Neg;
use mind_core::ops::index::Gather;
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::integers;
use mind_mil::infer::slice::ranges;
use mind_mil::ops::{index, movement, tensor};

use crate::emit::{Emit, Import, Imported};
use crate::gather::indices;
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&index::SCATTER, scatter),
    (&index::SCATTER_ALONG_AXIS, scatter_along),
    (&index::SCATTER_ND, scatter_nd),
    (&movement::SLICE_UPDATE, slice_update),
    (&movement::REVERSE_SEQUENCE, reverse_sequence),
    (&tensor::BAND_PART, band),
];

/// The most places that are listed.
const MOST_PLACES: i64 = 1 << 22;

fn extents(e: &Emit<'_>, x: ValueId) -> Result<Vec<usize>, Box<Refused>> {
    let shape = e.shape(x)?;
    let places: i64 = shape.iter().product();
    if places > MOST_PLACES {
        return Err(Refused::new(format!(
            "{places} places are more than {MOST_PLACES}"
        )));
    }
    Ok(shape.into_iter().map(|extent| extent as usize).collect())
}

/// The elements of `x` at `offsets`, in `shape`.
pub(crate) fn picked(e: &mut Emit<'_>, x: ValueId, offsets: Vec<i64>, shape: &[usize]) -> Imported {
    let count = e.shape(x)?.iter().product();
    let row = e.reshape(x, &[count])?;
    let places = e.constant(&Tensor::of(shape.to_vec(), offsets));
    Ok(Gather::with().axis(0).build(&mut e.b, row, places)?)
}

/// `x`, each of `offsets` holding the element of `updates` at the same position of the list, the last of equal ones.
fn replaced(e: &mut Emit<'_>, x: ValueId, updates: ValueId, offsets: &[usize]) -> Imported {
    let shape = extents(e, x)?;
    let count: usize = shape.iter().product();
    let mut places: Vec<i64> = (0..count as i64).collect();
    for (at, &offset) in offsets.iter().enumerate() {
        places[offset] = (count + at) as i64;
    }
    let row = e.reshape(x, &[count as i64])?;
    let new = e.reshape(updates, &[offsets.len() as i64])?;
    let both = e.concat(&[row, new], 0)?;
    picked(e, both, places, &shape)
}

fn inside(place: i64, extent: usize) -> Result<usize, Box<Refused>> {
    let own = if place < 0 {
        place + extent as i64
    } else {
        place
    };
    let own = usize::try_from(own).ok().filter(|&own| own < extent);
    own.ok_or_else(|| Refused::new(format!("index {place} is outside of an extent of {extent}")))
}

/// The offsets of the slices at the tuples in `indices`, element by element, and the extents of the list of them.
fn slices(indices: &Tensor, shape: &[usize]) -> Result<(Vec<usize>, Vec<usize>), Box<Refused>> {
    let depth = indices.shape().last().copied().unwrap_or(0);
    if depth > shape.len() || indices.rank() == 0 {
        return Err(Refused::new("`indices` are deeper than the tensor"));
    }
    let outer = indices.shape()[..indices.rank() - 1].to_vec();
    let (strides, places) = (row_major(shape), integers(indices));
    let width: usize = shape[depth..].iter().product();
    let mut offsets = Vec::new();
    for at in 0..outer.iter().product() {
        let mut start = 0;
        for (dim, &place) in places[at * depth..(at + 1) * depth].iter().enumerate() {
            start += inside(place, shape[dim])? * strides[dim];
        }
        offsets.extend(start..start + width);
    }
    Ok((offsets, outer))
}

/// How a scatter whose places come at run time, or which combines, joins its updates, and these.
fn update(op: OpId, e: &mut Emit<'_>) -> Result<(Update, ValueId), Box<Refused>> {
    let mode = e.call(op)?.word("mode").to_owned();
    let updates = e.argument(op, "updates")?;
    Ok(match mode.as_str() {
        "update" => (Update::Replace, updates),
        "" | "add" => (Update::Add, updates),
        "sub" => (Update::Add, Neg::build(&mut e.b, updates)?),
        "mul" => (Update::Mul, updates),
        "min" => (Update::Min, updates),
        "max" => (Update::Max, updates),
        mode => return Err(Refused::new(format!("core does not {mode} at places"))),
    })
}

/// Whether a scatter replaces elements at places that are known, so that a gather computes it.
fn replaces(op: OpId, e: &Emit<'_>) -> Result<bool, Box<Refused>> {
    let call = e.call(op)?;
    Ok(call.word("mode") == "update" && call.tensor("indices").known().is_some())
}

/// What the three scatters share: the data, its extents and the updates, which replace.
fn scattered(op: OpId, e: &mut Emit<'_>) -> Result<(ValueId, Vec<usize>, ValueId), Box<Refused>> {
    let mode = e.call(op)?.word("mode").to_owned();
    if mode != "update" {
        let mode = if mode.is_empty() { "add" } else { &mode };
        return Err(Refused::new(format!("core does not {mode} at places")));
    }
    let (data, updates) = (e.argument(op, "data")?, e.argument(op, "updates")?);
    Ok((data, extents(e, data)?, updates))
}

fn scatter(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (data, shape, updates) = scattered(op, e)?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), shape.len())?;
    let places = integers(&e.known(op, "indices")?);
    let inner: usize = shape[axis + 1..].iter().product();
    let mut offsets = Vec::new();
    for before in 0..shape[..axis].iter().product() {
        for &place in &places {
            let start = (before * shape[axis] + inside(place, shape[axis])?) * inner;
            offsets.extend(start..start + inner);
        }
    }
    fits(e, updates, offsets.len())?;
    replaced(e, data, updates, &offsets)
}

fn scatter_along(op: OpId, e: &mut Emit<'_>) -> Imported {
    if !replaces(op, e)? {
        let data = e.argument(op, "data")?;
        let call = e.call(op)?;
        let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(data))?;
        let (indices, (kind, updates)) = (indices(op, e)?, update(op, e)?);
        return Ok(ScatterElements::with()
            .axis(axis as i64)
            .kind(kind)
            .bounds(Bounds::FromEnd)
            .build(&mut e.b, data, indices, updates)?);
    }
    let (data, shape, updates) = scattered(op, e)?;
    let indices = e.known(op, "indices")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), shape.len())?;
    if indices.rank() != shape.len() {
        return Err(Refused::new("`indices` has another rank than `data`"));
    }
    let strides = row_major(&shape);
    let mut index = vec![0usize; shape.len()];
    let mut offsets = Vec::with_capacity(indices.count());
    for place in integers(&indices) {
        let mut at = 0;
        for (dim, &step) in index.iter().enumerate() {
            let step = if dim == axis { place } else { step as i64 };
            at += inside(step, shape[dim])? * strides[dim];
        }
        offsets.push(at);
        advance(&mut index, indices.shape());
    }
    fits(e, updates, offsets.len())?;
    replaced(e, data, updates, &offsets)
}

fn scatter_nd(op: OpId, e: &mut Emit<'_>) -> Imported {
    if !replaces(op, e)? {
        let data = e.argument(op, "data")?;
        let (indices, (kind, updates)) = (indices(op, e)?, update(op, e)?);
        return Ok(ScatterNd::with()
            .kind(kind)
            .bounds(Bounds::FromEnd)
            .build(&mut e.b, data, indices, updates)?);
    }
    let (data, shape, updates) = scattered(op, e)?;
    let (offsets, _) = slices(&e.known(op, "indices")?, &shape)?;
    fits(e, updates, offsets.len())?;
    replaced(e, data, updates, &offsets)
}

fn fits(e: &Emit<'_>, updates: ValueId, places: usize) -> Result<(), Box<Refused>> {
    if e.shape(updates)?.iter().product::<i64>() == places as i64 {
        Ok(())
    } else {
        Err(Refused::new(format!("`updates` has no {places} elements")))
    }
}

/// `x` with a slice replaced whose bounds are constants.
fn slice_update(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (x, update) = (e.argument(op, "x")?, e.argument(op, "update")?);
    let shape = extents(e, x)?;
    let dims: Vec<Dim> = shape
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64))
        .collect();
    let ranges =
        ranges(&e.call(op)?, &dims)?.ok_or_else(|| Refused::new("its bounds come at run time"))?;
    let counts: Vec<usize> = ranges
        .iter()
        .map(|range| range.count.max(0) as usize)
        .collect();
    if ranges.iter().all(|range| range.step == 1) && extents(e, update)? == counts {
        let starts = ranges
            .iter()
            .map(|range| e.constant(&Tensor::scalar(range.start)));
        let starts: Vec<ValueId> = starts.collect();
        return Ok(DynamicUpdateSlice::with()
            .bounds(Bounds::Strict)
            .build(&mut e.b, x, update, &starts)?);
    }
    let strides = row_major(&shape);
    let mut index = vec![0usize; counts.len()];
    let mut offsets = Vec::new();
    for _ in 0..counts.iter().product() {
        let places = index
            .iter()
            .zip(&ranges)
            .map(|(&at, range)| range.start + at as i64 * range.step);
        let places = places
            .zip(&strides)
            .map(|(place, &stride)| place as usize * stride);
        offsets.push(places.sum());
        advance(&mut index, &counts);
    }
    fits(e, update, offsets.len())?;
    replaced(e, x, update, &offsets)
}

/// The first elements of each sequence backwards, as many as constant `lengths` say.
fn reverse_sequence(op: OpId, e: &mut Emit<'_>) -> Imported {
    let lengths = integers(&e.known(op, "lengths")?);
    let x = e.argument(op, "x")?;
    let shape = extents(e, x)?;
    let call = e.call(op)?;
    let axis = |name: &str| call.axis(call.int(name).unwrap_or(0), shape.len());
    let (sequence, batch) = (axis("seq_axis")?, axis("batch_axis")?);
    if lengths.len() != shape[batch] {
        return Err(Refused::new("`lengths` does not fit the batches"));
    }
    let stride = row_major(&shape)[sequence];
    let mut index = vec![0usize; shape.len()];
    let mut offsets = Vec::new();
    for at in 0..shape.iter().product::<usize>() {
        let length = usize::try_from(lengths[index[batch]])
            .unwrap_or(0)
            .min(shape[sequence]);
        let step = index[sequence];
        let place = if step < length {
            length - 1 - step
        } else {
            step
        };
        offsets.push((at - step * stride + place * stride) as i64);
        advance(&mut index, &shape);
    }
    picked(e, x, offsets, &shape)
}

/// What lies outside of a band is cut to zero from both sides, so that nothing is multiplied.
fn band(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let x = e.float(x)?;
    let shape = e.shape(x)?;
    let &[.., rows, columns] = &shape[..] else {
        return Err(Refused::new("it takes rank 2 or more"));
    };
    let call = e.call(op)?;
    let bound = |name: &str| call.int(name).filter(|&own| own >= 0).unwrap_or(i64::MAX);
    let (lower, upper) = (bound("lower"), bound("upper"));
    let kept = |at: i64| {
        let below = at / columns - at % columns;
        below <= lower && -below <= upper
    };
    let bounds = (0..rows * columns).map(|at| if kept(at) { f32::INFINITY } else { 0.0 });
    let bounds = Tensor::of(vec![rows as usize, columns as usize], bounds.collect());
    let most = e.constant(&bounds);
    let most = e.convert(most, e.dtype(x))?;
    let least = e.mul_n(most, -1.0)?;
    let x = e.max(x, least)?;
    e.min(x, most)
}
