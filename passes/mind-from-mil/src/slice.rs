//! Imports slices.

use mind_convert::EmitCore;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::DynamicSlice;
use mind_core::ops::index::{Index, Slice};
use mind_core::ops::shape::Reverse;
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::slice::{Range, ranges};
use mind_mil::ops::movement;

use crate::emit::{Emit, Import, Many, One};
use crate::{runtime_part, runtime_shape};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&movement::SLICE_BY_INDEX, by_index),
    (&movement::SLICE_BY_SIZE, |op, e| {
        let x = e.argument(op, "x")?;
        let (size, begin) = (e.ints(op, "size"), e.ints(op, "begin"));
        let (size, begin) = match (size, begin) {
            (Ok(size), Ok(begin)) if e.shape(x).is_ok() => (size, begin),
            (Ok(size), Err(_)) if !size.contains(&-1) => return window(op, e, x, &size),
            _ => return runtime_shape::window(op, e, x),
        };
        let shape = e.shape(x)?;
        let bound = |at: usize| {
            let start = if begin[at] < 0 {
                begin[at] + shape[at]
            } else {
                begin[at]
            };
            let end = if size[at] == -1 {
                shape[at]
            } else {
                start.saturating_add(size[at])
            };
            (start, end)
        };
        let (starts, ends): (Vec<i64>, Vec<i64>) = (0..shape.len()).map(bound).unzip();
        strided(e, x, &starts, &ends, &vec![1; shape.len()])
    }),
    (&movement::REVERSE, |op, e| {
        let x = e.argument(op, "x")?;
        let shape = e.shape(x)?;
        let call = e.call(op)?;
        let axes = match call.value("axes") {
            Some(_) => call.axes(&e.ints(op, "axes")?, shape.len())?,
            None => (0..shape.len()).collect(),
        };
        let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
        Ok(Reverse::with(&axes).build(&mut e.b, x)?)
    }),
];

/// Returns a slice of fixed size with a data-dependent start; a negative start counts from the end.
fn window(op: OpId, e: &mut Emit<'_>, x: ValueId, size: &[i64]) -> One {
    let begin = e.argument(op, "begin")?;
    let axes = 0..size.len() as i64;
    let starts = axes.map(|axis| Ok(Index::with(&[axis]).build(&mut e.b, begin)?));
    let starts: Many = starts.collect();
    Ok(DynamicSlice::with(size)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, x, &starts?)?)
}

/// Returns the slice `[starts, ends, steps]` of `x`.
pub(crate) fn strided(
    e: &mut Emit<'_>,
    x: ValueId,
    starts: &[i64],
    ends: &[i64],
    steps: &[i64],
) -> One {
    let shape = e.shape(x)?;
    let whole = starts.iter().all(|&start| start == 0)
        && ends == shape
        && steps.iter().all(|&step| step == 1);
    if whole {
        Ok(x)
    } else {
        Ok(Slice::with(starts, ends, steps).build(&mut e.b, x)?)
    }
}

fn by_index(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let dims: Vec<Dim> = e.g().ty(x).shape.to_vec();
    let Some(ranges) = ranges(&e.call(op)?, &dims)? else {
        return runtime_part::slice(op, e, x);
    };
    let upward = |range: &Range| {
        let last = range.start + (range.count - 1) * range.step;
        (
            range.start.min(last),
            range.start.max(last) + 1,
            range.step.abs(),
        )
    };
    let (mut starts, mut ends, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for (start, end, step) in ranges.iter().map(upward) {
        starts.push(start);
        ends.push(end);
        steps.push(step);
    }
    let mut result = strided(e, x, &starts, &ends, &steps)?;
    let downward = ranges
        .iter()
        .enumerate()
        .filter(|(_, range)| range.step < 0);
    let downward: Vec<i64> = downward.map(|(axis, _)| axis as i64).collect();
    if !downward.is_empty() {
        result = Reverse::with(&downward).build(&mut e.b, result)?;
    }
    let shape: Vec<i64> = ranges
        .iter()
        .filter(|range| !range.squeezed)
        .map(|range| range.count)
        .collect();
    e.reshape_to(result, &shape)
}
