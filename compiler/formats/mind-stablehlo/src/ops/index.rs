//! Slices and slice updates.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_core::ops::index::{Gather, Slice};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::Row;
use super::shape::iota;
use crate::import::emit::{Emit, One};
use crate::import::node::{Node, list};
use crate::import::value::{Extent, Extents, Value, Values};
use crate::text::Attr;

pub(super) const ROWS: &[Row] = &[
    Row::values("stablehlo.slice", slice).folding(),
    Row::one("stablehlo.real_dynamic_slice", real_dynamic_slice),
    Row::one("stablehlo.dynamic_slice", |n| {
        let sizes = n.ints(&["sizes", "slice_sizes"])?;
        let x = n.input(0)?;
        let starts = starts(n, 1)?;
        Ok(DynamicSlice::with(&sizes).build(&mut n.e, x, &starts)?)
    }),
    Row::one("stablehlo.dynamic_update_slice", |n| {
        let (x, update) = (n.input(0)?, n.input(1)?);
        let starts = starts(n, 2)?;
        let bounds = DynamicUpdateSlice::with().bounds(Bounds::Clamp);
        Ok(bounds.build(&mut n.e, x, update, &starts)?)
    }),
];

/// Returns the start indices from operand `first` on.
fn starts(n: &mut Node<'_, '_, '_>, first: usize) -> Result<Vec<ValueId>, Refusal> {
    let mut starts = n.rest(first)?;
    for start in &mut starts {
        *start = index(&mut n.e, *start)?;
    }
    // The starts may differ in dtype, but core needs one dtype for all of them.
    let is_mixed = starts
        .windows(2)
        .any(|pair| n.e.dtype(pair[0]) != n.e.dtype(pair[1]));
    if is_mixed {
        for start in &mut starts {
            *start = n.e.convert(*start, DType::I64)?;
        }
    }
    Ok(starts)
}

/// Converts indices to `i32` or `i64`.
pub(super) fn index(e: &mut Emit<'_>, indices: ValueId) -> One {
    match e.dtype(indices) {
        DType::I32 | DType::I64 => Ok(indices),
        _ => e.convert(indices, DType::I64),
    }
}

/// Returns starts, ends and steps of all dimensions.
fn ranges(n: &Node<'_, '_, '_>) -> Result<[Vec<i64>; 3], Refusal> {
    let Some(ranges) = n.attr(&["ranges"]) else {
        let starts = n.ints(&["start_indices"])?;
        return Ok([starts, n.ints(&["limit_indices"])?, n.ints(&["strides"])?]);
    };
    let wrong = |found: &Attr<'_>| {
        Refusal::value(
            "ranges",
            found.describe(),
            "`start:limit` or `start:limit:stride` for each dimension",
        )
    };
    let Attr::List(all) = ranges else {
        return Err(wrong(ranges));
    };
    let mut lists: [Vec<i64>; 3] = Default::default();
    for range in all {
        let (start, end, step) = match list(range).as_deref() {
            Some(&[start, end]) => (start, end, 1),
            Some(&[start, end, step]) => (start, end, step),
            Some(_) | None => return Err(wrong(range)),
        };
        for (list, own) in lists.iter_mut().zip([start, end, step]) {
            list.push(own);
        }
    }
    Ok(lists)
}

fn slice(n: &mut Node<'_, '_, '_>) -> Values {
    n.count(1)?;
    let [starts, ends, steps] = ranges(n)?;
    if let Value::Extents(own) = n.given(0)? {
        let (&[start], &[end], &[1]) = (&starts[..], &ends[..], &steps[..]) else {
            let found = format!("{starts:?} to {ends:?} by {steps:?}");
            return Err(Refusal::value(
                "ranges",
                found,
                "one range with stride 1, because the operand is a list of extents",
            ));
        };
        let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let part = range.and_then(|(start, end)| own.elements.get(start..end));
        let part = part.ok_or_else(|| {
            let expected = format!("a range of the {} elements", own.elements.len());
            Refusal::value("ranges", format_args!("{start}:{end}"), expected)
        })?;
        return Ok(vec![Value::Extents(std::rc::Rc::new(Extents {
            elements: part.to_vec(),
            ..Extents::clone(own)
        }))]);
    }
    let x = n.input(0)?;
    let own = Slice::with(&starts, &ends, &steps).build(&mut n.e, x)?;
    Ok(vec![Value::Op(own)])
}

/// Imports a slice with dynamic starts and limits, as gathers where these are data-dependent.
fn real_dynamic_slice(n: &mut Node<'_, '_, '_>) -> One {
    n.count(4)?;
    let mut x = n.input(0)?;
    let [starts, limits, steps] = [n.extents_in(1)?, n.extents_in(2)?, n.extents_in(3)?];
    let rank = n.e.rank(x);
    if [starts.len(), limits.len(), steps.len()] != [rank; 3] {
        let lists = [(1, starts.len()), (2, limits.len()), (3, steps.len())];
        let wrong = lists.into_iter().find(|(_, found)| *found != rank);
        let (at, found) = wrong.unwrap_or((1, rank));
        return Err(Refusal::length(
            n.operand(at),
            found,
            rank,
            "1 for each dimension",
        ));
    }
    let wanted = n.result(0)?;
    for axis in 0..rank {
        let (start, limit, step) = (starts[axis], limits[axis], steps[axis]);
        let own = n.e.extent_of(x, axis)?;
        if (start, step) == (Extent::Known(0), Extent::Known(1)) && limit == own {
            continue;
        }
        let known = [start, limit, step].map(|own| own.dim().fixed());
        x = match (known, own) {
            ([Some(start), Some(limit), Some(1)], Extent::Known(_)) if rank == 1 => {
                n.e.part(x, axis, start, limit)?
            }
            _ => {
                let count = wanted.shape.get(axis).copied().flatten();
                gathered(&mut n.e, x, axis, [start, limit, step], count)?
            }
        };
    }
    Ok(x)
}

/// Returns the slices `start`, `start + step`, .. before `limit` along an axis; `count` is their number, if it is
/// known.
fn gathered(
    e: &mut Emit<'_>,
    x: ValueId,
    axis: usize,
    [start, limit, step]: [Extent; 3],
    count: Option<i64>,
) -> One {
    let one = |e: &mut Emit<'_>, extent| e.extent_list(&[extent]);
    let (start, step) = (one(e, start)?, one(e, step)?);
    if count == Some(1) {
        return Ok(Gather::with().axis(axis as i64).build(e, x, start)?);
    }
    let count = match count {
        Some(count) => Extent::Known(count),
        None => {
            let limit = one(e, limit)?;
            let span = e.apply(ScalarFn::Sub, &[limit, start])?;
            let span = e.apply(ScalarFn::Add, &[span, step])?;
            let span = e.apply_number(ScalarFn::Sub, span, 1.0)?;
            let count = e.apply(ScalarFn::Div, &[span, step])?;
            Extent::Computed(e.apply_number(ScalarFn::Maximum, count, 0.0)?)
        }
    };
    let places = iota(e, DType::I64, &[count], 0)?;
    let places = e.apply(ScalarFn::Mul, &[places, step])?;
    let places = e.apply(ScalarFn::Add, &[places, start])?;
    Ok(Gather::with().axis(axis as i64).build(e, x, places)?)
}
