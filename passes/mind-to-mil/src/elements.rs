//! Gathers and scatters of elements along an axis. MIL requires the indices to have the extents of the data along the
//! other axes, where core allows smaller ones.

use mind_core::axes::resolve;
use mind_core::ops::gather::GatherElements;
use mind_core::ops::scatter::ScatterElements;
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_mil::ops::index::{GATHER_ALONG_AXIS, SCATTER_ALONG_AXIS};

use crate::emit::Argument::{Int, Value, Word};
use crate::emit::{Emit, Lowered};
use crate::movement::{at_places, concat, mode, slice};

/// Lowers to `gather_along_axis` of the part of the data that the indices reach.
pub(crate) fn gather(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = GatherElements::from_id(op);
    let (data, indices) = (view.data(e.g()), view.indices(e.g()));
    let (axis, bounds) = (view.axis(e.g()), view.bounds(e.g()));
    let reached = reached(e, data, indices, axis)?;
    let args = vec![
        ("x", Value(reached)),
        ("indices", Value(indices)),
        ("axis", Int(axis)),
    ];
    at_places(e, &GATHER_ALONG_AXIS, reached, bounds, args)
}

/// Lowers to `scatter_along_axis` in the part of the data that the indices reach, concatenated with the rest.
pub(crate) fn scatter(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = ScatterElements::from_id(op);
    let (data, indices, updates) = (view.data(e.g()), view.indices(e.g()), view.updates(e.g()));
    let (axis, kind, bounds) = (view.axis(e.g()), view.kind(e.g()), view.bounds(e.g()));
    let reached = reached(e, data, indices, axis)?;
    let args = vec![
        ("data", Value(reached)),
        ("indices", Value(indices)),
        ("updates", Value(updates)),
        ("axis", Int(axis)),
        ("mode", Word(mode(kind))),
    ];
    let scattered = at_places(e, &SCATTER_ALONG_AXIS, reached, bounds, args)?;
    if reached == data {
        return Ok(scattered);
    }
    completed(e, scattered, data)
}

/// Returns the first positions of `data` along each dimension other than `axis`, as many as `indices` has. Returns
/// `data` itself if these are all, or if an extent is unknown.
fn reached(e: &mut Emit<'_, '_>, data: ValueId, indices: ValueId, axis: i64) -> Lowered {
    let (Ok(shape), Ok(mut ends)) = (e.shape(data), e.shape(indices)) else {
        return Ok(data);
    };
    let axis = resolve("gather", axis, shape.len())?;
    ends[axis] = shape[axis];
    if ends == shape {
        return Ok(data);
    }
    slice(e, data, &[vec![0; shape.len()], ends, vec![1; shape.len()]])
}

/// Replaces the first positions of `data` by `part`, keeping the others along each dimension.
fn completed(e: &mut Emit<'_, '_>, part: ValueId, data: ValueId) -> Lowered {
    let whole = e.shape(data)?;
    let mut part = part;
    for dimension in (0..whole.len()).rev() {
        let own = e.shape(part)?;
        if own[dimension] == whole[dimension] {
            continue;
        }
        let mut starts = vec![0; whole.len()];
        let mut ends = own.clone();
        (starts[dimension], ends[dimension]) = (own[dimension], whole[dimension]);
        let rest = slice(e, data, &[starts, ends, vec![1; whole.len()]])?;
        part = concat(e, &[part, rest], dimension as i64)?;
    }
    Ok(part)
}
