//! Exports gathers.

use mind_convert::Refusal;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::Gather;
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};

use super::super::draft::{AttrDraft, Val};
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Gather::DEF,
        Form::One(|op, e| gather(Gather::from_id(op), e)),
    ),
    (
        GatherElements::DEF,
        Form::One(|op, e| {
            let own = GatherElements::from_id(op);
            let (data, axis) = (own.data(e.g), own.axis(e.g));
            let places = along(e, data, own.indices(e.g), axis, own.bounds(e.g))?;
            let values = e.value(data);
            let attrs = vec![("axis", axis.into())];
            let read = e.node(op::GATHER_ELEMENTS, &[values, places.at], attrs)?;
            places.read(e, e.dtype(data), read)
        }),
    ),
    (
        GatherNd::DEF,
        Form::One(|op, e| gather_nd(GatherNd::from_id(op), e)),
    ),
];

/// Indices in the form that ONNX accepts.
pub(super) struct Places {
    /// The indices, each in bounds or counted from the end.
    pub at: Val,
    /// Whether each index was in bounds; `None` if all are.
    pub is_inside: Option<Val>,
}

impl Places {
    /// Returns the gathered elements, with 0 for indices out of bounds.
    fn read(&self, e: &mut Emit<'_>, dtype: DType, read: Val) -> One {
        let Some(is_inside) = self.is_inside else {
            return Ok(read);
        };
        let zero = e.number(dtype, 0.0);
        e.choose(dtype, is_inside, read, zero)
    }
}

fn i64_indices(e: &mut Emit<'_>, indices: ValueId) -> One {
    let own = e.value(indices);
    e.cast(own, e.dtype(indices), DType::I64)
}

/// Returns the valid form of `indices` along an axis of `data`.
pub(super) fn along(
    e: &mut Emit<'_>,
    data: ValueId,
    indices: ValueId,
    axis: i64,
    bounds: Bounds,
) -> Result<Places, Refusal> {
    if matches!(bounds, Bounds::Strict | Bounds::FromEnd) {
        let at = e.value(indices);
        return Ok(Places {
            at,
            is_inside: None,
        });
    }
    let axis = e.axis(axis, data);
    let own = i64_indices(e, indices)?;
    let extent = e.extent(data, axis)?;
    within(e, own, extent, bounds)
}

/// Returns the valid form of `i64` indices along axes with these extents.
pub(super) fn within(
    e: &mut Emit<'_>,
    own: Val,
    extents: Val,
    bounds: Bounds,
) -> Result<Places, Refusal> {
    let (zero, one) = (e.int(0), e.int(1));
    let last = e.node(op::SUB, &[extents, one], Vec::new())?;
    let low = e.node(op::MIN, &[own, last], Vec::new())?;
    let at = e.node(op::MAX, &[low, zero], Vec::new())?;
    let is_inside = match bounds {
        Bounds::Skip => Some(e.node(op::EQUAL, &[own, at], Vec::new())?),
        Bounds::Clamp | Bounds::Strict | Bounds::FromEnd => None,
    };
    Ok(Places { at, is_inside })
}

/// Refuses to skip indices of an operand without elements, because no substitute index would be in bounds.
fn check_elements(e: &Emit<'_>, data: ValueId, bounds: Bounds) -> Result<(), Refusal> {
    if bounds == Bounds::Skip && e.dims(data).contains(&Dim::Fixed(0)) {
        return Err(Refusal::form(
            "its operand",
            e.g.type_text(data),
            "elements along each axis, because no index of ONNX is left out",
        ));
    }
    Ok(())
}

fn gather(op: Gather, e: &mut Emit<'_>) -> One {
    let (data, indices, axis) = (op.data(e.g), op.indices(e.g), op.axis(e.g));
    check_elements(e, data, op.bounds(e.g))?;
    let mut places = along(e, data, indices, axis, op.bounds(e.g))?;
    let values = e.value(data);
    let attrs: Attrs = vec![("axis", axis.into())];
    let read = e.node(op::GATHER, &[values, places.at], attrs)?;
    if let Some(is_inside) = &mut places.is_inside {
        // The result has the dimensions of the indices, followed by those of `data` after the axis.
        let (rank, axis) = (e.rank(data) as i64, e.axis(axis, data) as i64);
        let first = e.rank(indices) as i64;
        let behind: Vec<i64> = (first..first + rank - axis - 1).collect();
        if !behind.is_empty() {
            *is_inside = e.unsqueeze(*is_inside, &behind)?;
        }
    }
    places.read(e, e.dtype(data), read)
}

/// Returns the valid form of index tuples for the dimensions of `data` from `first` on.
pub(super) fn tuples(
    e: &mut Emit<'_>,
    data: ValueId,
    indices: ValueId,
    first: usize,
    bounds: Bounds,
) -> Result<Places, Refusal> {
    let own = i64_indices(e, indices)?;
    if matches!(bounds, Bounds::Strict | Bounds::FromEnd) {
        return Ok(Places {
            at: own,
            is_inside: None,
        });
    }
    let count = e
        .dims(indices)
        .last()
        .and_then(|dim| dim.fixed())
        .unwrap_or(0) as usize;
    let extents = extents_of(e, data, first..first + count)?;
    within(e, own, extents, bounds)
}

/// Returns the extents of some dimensions of a value as a list.
pub(super) fn extents_of(e: &mut Emit<'_>, value: ValueId, axes: std::ops::Range<usize>) -> One {
    let known: Option<Vec<i64>> = e.dims(value)[axes.clone()]
        .iter()
        .map(|dim| dim.fixed())
        .collect();
    if let Some(known) = known {
        return Ok(e.ints(&known));
    }
    let own = e.value(value);
    let shape = e.node(op::SHAPE, &[own], Vec::new())?;
    let axes: Vec<i64> = axes.map(|at| at as i64).collect();
    let axes = e.ints(&axes);
    e.node(op::GATHER, &[shape, axes], Vec::new())
}

/// Returns whether all entries of each tuple are in bounds.
pub(super) fn all_inside(e: &mut Emit<'_>, is_inside: Val) -> One {
    let bytes = e.cast(is_inside, DType::Bool, DType::I32)?;
    let mut attrs: Attrs = vec![("keepdims", AttrDraft::Int(0))];
    let mut inputs = vec![bytes];
    if e.opset < super::reduce::AXES_AS_INPUT {
        attrs.push(("axes", AttrDraft::Ints(vec![-1])));
    } else {
        inputs.push(e.ints(&[-1]));
    }
    let all = e.node(op::REDUCE_MIN, &inputs, attrs)?;
    e.cast(all, DType::I32, DType::Bool)
}

fn gather_nd(op: GatherNd, e: &mut Emit<'_>) -> One {
    let (data, indices) = (op.data(e.g), op.indices(e.g));
    let batch = op.batch_dims(e.g);
    check_elements(e, data, op.bounds(e.g))?;
    let mut places = tuples(e, data, indices, batch as usize, op.bounds(e.g))?;
    let values = e.value(data);
    let attrs = vec![("batch_dims", batch.into())];
    let read = e.node(op::GATHER_ND, &[values, places.at], attrs)?;
    if let Some(is_inside) = places.is_inside {
        let mut all = all_inside(e, is_inside)?;
        let outer = e.rank(indices) as i64 - 1;
        let behind: Vec<i64> = (outer..e.rank(e.g.result(op.id())) as i64).collect();
        if !behind.is_empty() {
            all = e.unsqueeze(all, &behind)?;
        }
        places.is_inside = Some(all);
    }
    places.read(e, e.dtype(data), read)
}
