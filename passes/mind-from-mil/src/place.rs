//! Imports scatters, slice updates, and gathers with constant indices.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::Select;
use mind_core::ops::dynamic::DynamicUpdateSlice;
use mind_core::ops::elementwise::Neg;
use mind_core::ops::gather::GatherElements;
use mind_core::ops::pad::PadOp;
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_ir::tensor::{Buffer, Tensor, advance};
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::integers;
use mind_mil::infer::slice::{Range, ranges};
use mind_mil::ops::{index, movement, tensor};

use crate::emit::{Emit, Import, One};
use crate::gather::indices;
use crate::runtime_part;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&index::SCATTER, scatter),
    (&index::SCATTER_ALONG_AXIS, |op, e| {
        let data = e.argument(op, "data")?;
        let call = e.call(op)?;
        let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(data))?;
        let (indices, (kind, updates)) = (indices(op, e)?, update(op, e)?);
        elements(e, axis, kind, [data, indices, updates])
    }),
    (&index::SCATTER_ND, |op, e| {
        let data = e.argument(op, "data")?;
        let (indices, (kind, updates)) = (indices(op, e)?, update(op, e)?);
        Ok(ScatterNd::with()
            .kind(kind)
            .bounds(Bounds::FromEnd)
            .build(&mut e.b, data, indices, updates)?)
    }),
    (&movement::SLICE_UPDATE, slice_update),
    (&movement::REVERSE_SEQUENCE, reverse_sequence),
    (&tensor::BAND_PART, band),
];

/// Maximum number of indices in a constant list.
const MOST_PLACES: i64 = 1 << 22;

/// Refuses a number of places that is too large, `None` for one above `i64`.
///
/// # Errors
///
/// E6004 above the limit.
pub(crate) fn check_places(places: Option<i64>) -> Result<(), Refusal> {
    if let Some(0..=MOST_PLACES) = places {
        return Ok(());
    }
    let found = places.map_or("more than 2^63 - 1".to_owned(), |own| own.to_string());
    let what = "the number of places";
    Err(Refusal::too_large(what, found, MOST_PLACES))
}

fn extents(e: &Emit<'_>, x: ValueId) -> Result<Vec<usize>, Refusal> {
    let shape = e.shape(x)?;
    let places = shape
        .iter()
        .try_fold(1i64, |all, &extent| all.checked_mul(extent));
    check_places(places)?;
    Ok(shape.into_iter().map(|extent| extent as usize).collect())
}

/// Returns how a scatter combines its updates with the elements, and the updates.
fn update(op: OpId, e: &mut Emit<'_>) -> Result<(Update, ValueId), Refusal> {
    let mode = e.call(op)?.word("mode").to_owned();
    let updates = e.argument(op, "updates")?;
    Ok(match mode.as_str() {
        "update" => (Update::Replace, updates),
        "" | "add" => (Update::Add, updates),
        "sub" => (Update::Add, Neg::build(&mut e.b, updates)?),
        "mul" => (Update::Mul, updates),
        "min" => (Update::Min, updates),
        "max" => (Update::Max, updates),
        mode => {
            let modes = ["update", "add", "sub", "mul", "min", "max"];
            return Err(Refusal::word("mode", mode, &modes));
        }
    })
}

fn elements(
    e: &mut Emit<'_>,
    axis: usize,
    kind: Update,
    [data, indices, updates]: [ValueId; 3],
) -> One {
    Ok(ScatterElements::with()
        .axis(axis as i64)
        .kind(kind)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, data, indices, updates)?)
}

/// Imports a scatter of slices along an axis. The indices are flattened to one dimension and broadcast over the
/// elements of their slices.
fn scatter(op: OpId, e: &mut Emit<'_>) -> One {
    let data = e.argument(op, "data")?;
    let shape = e.shape(data)?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), shape.len())?;
    let (indices, (kind, updates)) = (indices(op, e)?, update(op, e)?);
    let count: i64 = e.shape(indices)?.iter().product();
    let mut whole = shape.clone();
    whole[axis] = count;
    let updates = e.reshape_to(updates, &whole)?;
    let mut column = vec![1; shape.len() - axis];
    column[0] = count;
    let column = e.reshape_to(indices, &column)?;
    let dims: Vec<Dim> = whole.into_iter().map(Dim::Fixed).collect();
    let spread = BroadcastTo::with(&dims).build(&mut e.b, column)?;
    elements(e, axis, kind, [data, spread, updates])
}

/// Imports the update of a slice.
fn slice_update(op: OpId, e: &mut Emit<'_>) -> One {
    let (x, update) = (e.argument(op, "x")?, e.argument(op, "update")?);
    let dims: Vec<Dim> = e.g().ty(x).shape.to_vec();
    let Some(ranges) = ranges(&e.call(op)?, &dims)? else {
        return runtime_part::update(op, e, x, update);
    };
    if let Some(range) = ranges.iter().find(|range| range.step < 0) {
        let expected = "a positive number, because core replaces slices forwards only";
        return Err(Refusal::form("`stride`", range.step, expected));
    }
    let counts: Vec<i64> = ranges.iter().map(|range| range.count).collect();
    let update = e.reshape_to(update, &counts)?;
    if ranges.iter().any(|range| range.step != 1) {
        return spread(e, x, update, &ranges);
    }
    let starts = ranges
        .iter()
        .map(|range| e.tensor(&Tensor::scalar(range.start)));
    let starts: Vec<ValueId> = starts.collect();
    Ok(DynamicUpdateSlice::with()
        .bounds(Bounds::Strict)
        .build(&mut e.b, x, update, &starts)?)
}

/// Returns `update` at the positions of `ranges`, and `x` elsewhere.
fn spread(e: &mut Emit<'_>, x: ValueId, update: ValueId, ranges: &[Range]) -> One {
    let shape = extents(e, x)?;
    let reach = |range: &Range| range.start + (range.count - 1) * range.step + 1;
    let low: Vec<i64> = ranges.iter().map(|range| range.start).collect();
    let high: Vec<i64> = ranges
        .iter()
        .zip(&shape)
        .map(|(range, &n)| n as i64 - reach(range))
        .collect();
    let interior: Vec<i64> = ranges.iter().map(|range| range.step - 1).collect();
    let spread = PadOp::with(&low, &high)
        .interior(&interior)
        .build(&mut e.b, update, None)?;
    let mut index = vec![0usize; shape.len()];
    let mut kept = Vec::with_capacity(shape.iter().product());
    for _ in 0..kept.capacity() {
        let mut places = index.iter().zip(ranges);
        kept.push(places.all(|(&at, range)| {
            let behind = at as i64 - range.start;
            behind >= 0 && behind % range.step == 0 && behind / range.step < range.count
        }));
        advance(&mut index, &shape);
    }
    let mask = e.tensor(&Tensor::of(shape, kept));
    Ok(Select::build(&mut e.b, mask, spread, x)?)
}

/// Imports a reversal of the first elements of each sequence; `lengths` is constant.
fn reverse_sequence(op: OpId, e: &mut Emit<'_>) -> One {
    let lengths = integers(&e.known(op, "lengths")?);
    let x = e.argument(op, "x")?;
    let shape = extents(e, x)?;
    let call = e.call(op)?;
    let axis = |name: &str| call.axis(call.int(name).unwrap_or(0), shape.len());
    let (sequence, batch) = (axis("seq_axis")?, axis("batch_axis")?);
    if lengths.len() != shape[batch] {
        let reason = "1 for each sequence of the batch";
        return Err(Refusal::length(
            "lengths",
            lengths.len(),
            shape[batch],
            reason,
        ));
    }
    let mut index = vec![0usize; shape.len()];
    let mut places = Vec::new();
    for _ in 0..shape.iter().product::<usize>() {
        let length = lengths[index[batch]].min(shape[sequence] as i64);
        let step = index[sequence] as i64;
        places.push(if step < length {
            length - 1 - step
        } else {
            step
        });
        advance(&mut index, &shape);
    }
    let places = e.tensor(&Tensor::of(shape, places));
    Ok(GatherElements::with()
        .axis(sequence as i64)
        .build(&mut e.b, x, places)?)
}

/// Imports a band matrix: `x` in the band, 0 outside of it.
fn band(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let shape = extents(e, x)?;
    let &[.., rows, columns] = &shape[..] else {
        return Err(Refusal::rank("x", e.g().type_text(x), "2 or more"));
    };
    let call = e.call(op)?;
    let bound = |name: &str| call.int(name).filter(|&own| own >= 0).unwrap_or(i64::MAX);
    let (lower, upper) = (bound("lower"), bound("upper"));
    let kept = |at: usize| {
        let below = (at / columns) as i64 - (at % columns) as i64;
        below <= lower && -below <= upper
    };
    let mask = Tensor::of(vec![rows, columns], (0..rows * columns).map(kept).collect());
    let mask = e.tensor(&mask);
    let zero = Tensor::new(Vec::new(), Buffer::zeros(e.dtype(x), 1));
    let zero = e.tensor(&zero);
    Ok(Select::build(&mut e.b, mask, x, zero)?)
}
