//! Slices with bounds known at compile time.

use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};

use super::rule::{declared, typed};
use crate::call::{ArgState, Call};

/// One dimension of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first position.
    pub start: i64,
    /// The step between positions, which may be negative.
    pub step: i64,
    /// Number of positions.
    pub count: i64,
    /// Whether the dimension is removed.
    pub squeezed: bool,
}

/// Returns the ranges of `slice_by_index` over `shape`; `None` if a bound or an extent is unknown.
///
/// # Errors
///
/// Returns E4109 for lists of another length, and E4108 for a step of 0 or a range that is empty or out of bounds.
pub fn ranges(call: &Call<'_>, shape: &[Dim]) -> Result<Option<Vec<Range>>, Box<VerifyError>> {
    match (call.ints("begin"), call.ints("end")) {
        (ArgState::Known(begin), ArgState::Known(end)) => between(call, shape, &begin, &end),
        _ => Ok(None),
    }
}

/// Returns the ranges as [`ranges`] does, for the given `begin` and `end`, which may be known at run time only.
///
/// # Errors
///
/// Returns the errors of [`ranges`].
pub fn between(
    call: &Call<'_>,
    shape: &[Dim],
    begin: &[i64],
    end: &[i64],
) -> Result<Option<Vec<Range>>, Box<VerifyError>> {
    let rank = shape.len();
    let list = |name: &'static str, each: i64| -> Result<Vec<i64>, Box<VerifyError>> {
        let entries = call.ints(name).known().unwrap_or_else(|| vec![each; rank]);
        call.length(name, entries.len(), rank)?;
        Ok(entries)
    };
    call.length("begin", begin.len(), rank)?;
    call.length("end", end.len(), rank)?;
    let steps = list("stride", 1)?;
    let masks = [
        list("begin_mask", 0)?,
        list("end_mask", 0)?,
        list("squeeze_mask", 0)?,
    ];
    let mut all = Vec::with_capacity(rank);
    for at in 0..rank {
        let Some(extent) = shape[at].fixed() else {
            return Ok(None);
        };
        let step = steps[at];
        if step == 0 {
            return Err(call.refused("stride", "0", "not 0"));
        }
        let from_end = |bound: i64| {
            if bound < 0 {
                bound.saturating_add(extent)
            } else {
                bound
            }
        };
        if masks[2][at] != 0 {
            let start = from_end(begin[at]);
            if !(0..extent).contains(&start) {
                return Err(outside(call, "begin", begin[at], at, extent));
            }
            all.push(Range {
                start,
                step: 1,
                count: 1,
                squeezed: true,
            });
            continue;
        }
        let (least, most) = if step > 0 {
            (0, extent)
        } else {
            (-1, extent - 1)
        };
        let start = match (masks[0][at] != 0, step > 0) {
            (true, true) => 0,
            (true, false) => extent - 1,
            (false, _) => from_end(begin[at]).clamp(least, most),
        };
        let stop = match (masks[1][at] != 0, step > 0) {
            (true, true) => extent,
            (true, false) => -1,
            (false, _) => from_end(end[at]).clamp(least, most),
        };
        let room = if step > 0 { stop - start } else { start - stop };
        let width = step.unsigned_abs().min(i64::MAX as u64) as i64;
        let count = room.max(0).div_euclid(width) + i64::from(room.max(0).rem_euclid(width) > 0);
        if count == 0 {
            return Err(outside(call, "end", end[at], at, extent));
        }
        all.push(Range {
            start,
            step,
            count,
            squeezed: false,
        });
    }
    Ok(Some(all))
}

fn outside(call: &Call<'_>, name: &str, bound: i64, at: usize, extent: i64) -> Box<VerifyError> {
    let found = format!("{bound} at dimension {at} of extent {extent}, which leaves nothing");
    call.refused(name, &found, "such that something is left")
}

/// Slices from `begin` to below `end`.
pub(crate) fn by_index(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let Some(ranges) = ranges(call, x.shape)? else {
        return declared(call);
    };
    let kept = ranges.iter().filter(|range| !range.squeezed);
    typed(x.dtype, kept.map(|range| Dim::Fixed(range.count)).collect())
}

/// Slices `size` positions from `begin`; a size of -1 extends to the end.
pub(crate) fn by_size(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let ArgState::Known(sizes) = call.ints("size") else {
        return declared(call);
    };
    call.length("size", sizes.len(), x.rank())?;
    let begin = call.ints("begin").known();
    if let Some(begin) = &begin {
        call.length("begin", begin.len(), x.rank())?;
    }
    let mut shape = Shape::new();
    for (at, &size) in sizes.iter().enumerate() {
        let start = begin.as_ref().map(|begin| begin[at]);
        let dim = match (x.shape[at].fixed(), start, size) {
            (Some(extent), Some(start), size) => {
                let start = if start < 0 {
                    start.saturating_add(extent)
                } else {
                    start
                };
                let size = if size == -1 {
                    extent.saturating_sub(start)
                } else {
                    size
                };
                if start < 0 || size < 1 || start.saturating_add(size) > extent {
                    let found = format!("{size} from {start} at dimension {at} of extent {extent}");
                    return Err(call.refused("size", &found, "inside the extent, and positive"));
                }
                Dim::Fixed(size)
            }
            (_, _, -1) => Dim::Dynamic,
            (_, _, size) => Dim::Fixed(size),
        };
        shape.push(dim);
    }
    typed(x.dtype, shape)
}

/// Returns the type of `x`, a slice of which is replaced.
pub(crate) fn update(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    ranges(call, x.shape)?;
    super::rule::one(x.to_owned())
}
