//! Exports ops with data-dependent indices and shapes.

use mind_convert::Refusal;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};

use super::super::draft::Val;
use super::super::emit::{Emit, One};
use super::super::guard::Promise;
use super::super::operator as op;
use super::{Form, Row, movement};

pub(super) const ROWS: &[Row] = &[
    (
        DynamicSlice::DEF,
        Form::One(|op, e| dynamic_slice(DynamicSlice::from_id(op), e)),
    ),
    (
        DynamicUpdateSlice::DEF,
        Form::One(|op, e| dynamic_update_slice(DynamicUpdateSlice::from_id(op), e)),
    ),
    (
        DynamicReshape::DEF,
        Form::One(|op, e| {
            let own = DynamicReshape::from_id(op);
            let (input, extents) = (own.input(e.g), own.extents(e.g));
            let x = e.value(input);
            let promise = Promise {
                dims: e.dims(e.g.result(op)),
                refuse_ones: own.refuse_ones(e.g),
            };
            let shape = e.guarded(extents, promise)?;
            e.reshape_as(x, shape)
        }),
    ),
    (
        DynamicBroadcastTo::DEF,
        Form::One(|op, e| {
            let own = DynamicBroadcastTo::from_id(op);
            let (input, extents) = (own.input(e.g), own.extents(e.g));
            let x = e.value(input);
            let shape = asked(e, extents, e.dims(e.g.result(op)))?;
            e.expand_as(e.dtype(input), x, shape)
        }),
    ),
    (
        DynamicIota::DEF,
        Form::One(|op, e| {
            let own = DynamicIota::from_id(op);
            let (extents, axis) = (own.extents(e.g), own.axis(e.g));
            let result = e.g.result(op);
            let axis = e.axis(axis, result);
            let shape = asked(e, extents, e.dims(result))?;
            movement::counted(e, shape, axis, own.dtype(e.g))
        }),
    ),
];

/// Returns the extents that an operand gives for a result of shape `dims`.
fn asked(e: &mut Emit<'_>, extents: ValueId, dims: &[Dim]) -> One {
    let promise = Promise {
        dims,
        refuse_ones: false,
    };
    e.guarded(extents, promise)
}

/// A range of indices along one axis: the start, of rank 0, and the length.
struct Window {
    axis: usize,
    start: Val,
    size: i64,
}

/// Returns the ranges of `sizes` elements of `data`, for the axes of which they take only a part.
fn windows(
    e: &mut Emit<'_>,
    data: ValueId,
    sizes: &[i64],
    starts: &[ValueId],
    bounds: Bounds,
) -> Result<Vec<Window>, Refusal> {
    let mut windows = Vec::new();
    for (axis, (&size, &start)) in sizes.iter().zip(starts).enumerate() {
        if e.dims(data)[axis] == Dim::Fixed(size) {
            // The range starts at 0.
            continue;
        }
        let own = e.value(start);
        let own = e.cast(own, e.dtype(start), DType::I64)?;
        let zero = e.int(0);
        let start = match bounds {
            Bounds::Strict | Bounds::Skip => own,
            Bounds::FromEnd => {
                let extent = e.extent(data, axis)?;
                let from_end = e.node(op::ADD, &[own, extent], Vec::new())?;
                let is_negative = e.node(op::LESS, &[own, zero], Vec::new())?;
                e.choose(DType::I64, is_negative, from_end, own)?
            }
            Bounds::Clamp => {
                let (extent, size) = (e.extent(data, axis)?, e.int(size));
                let last = e.node(op::SUB, &[extent, size], Vec::new())?;
                let low = e.node(op::MIN, &[own, last], Vec::new())?;
                e.node(op::MAX, &[low, zero], Vec::new())?
            }
        };
        windows.push(Window { axis, start, size });
    }
    Ok(windows)
}

impl Window {
    /// Returns the indices in the range.
    fn places(&self, e: &mut Emit<'_>) -> One {
        let all = movement::indices(e, self.size)?;
        e.node(op::ADD, &[self.start, all], Vec::new())
    }
}

fn dynamic_slice(op: DynamicSlice, e: &mut Emit<'_>) -> One {
    let data = op.input(e.g);
    let windows = windows(e, data, op.sizes(e.g), op.starts(e.g), op.bounds(e.g))?;
    let mut own = e.value(data);
    for window in windows {
        let places = window.places(e)?;
        let axis = window.axis as i64;
        own = e.node(op::GATHER, &[own, places], vec![("axis", axis.into())])?;
    }
    Ok(own)
}

/// Exports an update of a slice as a scatter with index tuples, one index for each axis up to the last partial one.
fn dynamic_update_slice(op: DynamicUpdateSlice, e: &mut Emit<'_>) -> One {
    let (data, update) = (op.input(e.g), op.update(e.g));
    let sizes = e.shape(update)?;
    let windows = windows(e, data, &sizes, op.starts(e.g), op.bounds(e.g))?;
    let values = e.value(update);
    let Some(last) = windows.last().map(|window| window.axis) else {
        return Ok(values);
    };
    let count = last as i64 + 1;
    let shape: Vec<i64> = sizes[..=last].iter().copied().chain([1]).collect();
    let target = e.ints(&shape);
    let mut columns = Vec::new();
    for axis in 0..count {
        let window = windows.iter().find(|window| window.axis as i64 == axis);
        let places = match window {
            Some(window) => window.places(e)?,
            None => movement::indices(e, sizes[axis as usize])?,
        };
        let around: Vec<i64> = (0..=count).filter(|&at| at != axis).collect();
        let apart = e.unsqueeze(places, &around)?;
        columns.push(e.expand_as(DType::I64, apart, target)?);
    }
    let places = e.concat(&columns, count)?;
    let own = e.value(data);
    e.node(op::SCATTER_ND, &[own, places, values], Vec::new())
}
