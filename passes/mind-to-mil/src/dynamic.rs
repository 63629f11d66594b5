//! Slices with data-dependent starts.

use mind_convert::Refusal;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_mil::ops::binary::{ADD, LESS, MAXIMUM, MINIMUM};
use mind_mil::ops::movement::{EXPAND_DIMS, SLICE_BY_SIZE, SLICE_UPDATE};

use crate::elementwise::pair;
use crate::emit::Argument::{Int, Ints, Value};
use crate::emit::{Emit, Lower, Lowered};
use crate::movement::concat;
use crate::select;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (DynamicSlice::DEF, |op, e| {
        let view = DynamicSlice::from_id(op);
        let (x, bounds) = (view.input(e.g()), view.bounds(e.g()));
        let (starts, sizes) = (view.starts(e.g()).to_vec(), view.sizes(e.g()).to_vec());
        let begin = begin(e, x, &starts, &sizes, bounds)?;
        let args = [
            ("x", Value(x)),
            ("begin", Value(begin)),
            ("size", Ints(&sizes)),
        ];
        e.op(&SLICE_BY_SIZE, &args)
    }),
    (DynamicUpdateSlice::DEF, |op, e| {
        let view = DynamicUpdateSlice::from_id(op);
        let (x, update, bounds) = (view.input(e.g()), view.update(e.g()), view.bounds(e.g()));
        let starts = view.starts(e.g()).to_vec();
        let sizes = e.shape(update)?;
        let mut begin = begin(e, x, &starts, &sizes, bounds)?;
        if bounds == Bounds::FromEnd {
            begin = from_start(e, x, begin)?;
        }
        let extents = numbers(e, &sizes);
        let end = pair(e, &ADD, begin, extents)?;
        let args = [
            ("x", Value(x)),
            ("update", Value(update)),
            ("begin", Value(begin)),
            ("end", Value(end)),
        ];
        e.op(&SLICE_UPDATE, &args)
    }),
];

/// Returns the starts as one tensor, clamped if `bounds` requires it.
fn begin(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    starts: &[ValueId],
    sizes: &[i64],
    bounds: Bounds,
) -> Lowered {
    let shape = e.shape(x)?;
    if sizes.contains(&0) {
        return Err(Refusal::no_counterpart("an extent of 0 has no counterpart"));
    }
    let rows = starts
        .iter()
        .map(|&start| e.op(&EXPAND_DIMS, &[("x", Value(start)), ("axes", Ints(&[0]))]));
    let rows: Result<Vec<ValueId>, Refusal> = rows.collect();
    let begin = concat(e, &rows?, 0)?;
    if bounds != Bounds::Clamp {
        return Ok(begin);
    }
    let last: Vec<i64> = shape.iter().zip(sizes).map(|(n, size)| n - size).collect();
    let (last, first) = (numbers(e, &last), numbers(e, &vec![0; shape.len()]));
    let begin = pair(e, &MINIMUM, begin, last)?;
    pair(e, &MAXIMUM, begin, first)
}

/// Returns the starts with negative ones counted from the start of `x`, because the end of a negative slice that
/// reaches the end of `x` would be 0.
fn from_start(e: &mut Emit<'_, '_>, x: ValueId, begin: ValueId) -> Lowered {
    let shape = e.shape(x)?;
    let extents = numbers(e, &shape);
    let counted = pair(e, &ADD, begin, extents)?;
    let is_negative = e.op(&LESS, &[("x", Value(begin)), ("y", Int(0))])?;
    select::lower(e, is_negative, counted, begin)
}

fn numbers(e: &mut Emit<'_, '_>, list: &[i64]) -> ValueId {
    let list: Vec<i32> = list.iter().map(|&number| number as i32).collect();
    e.constant(&Tensor::of(vec![list.len()], list))
}
