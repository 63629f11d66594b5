//! Exports scatters.

use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::DType;

use super::super::draft::Val;
use super::super::emit::{Attrs, Emit, One};
use super::super::operator::{self as op, Operator};
use super::index::{Places, all_inside, along, extents_of, tuples};
use super::movement::padded;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        ScatterElements::DEF,
        Form::One(|op, e| scatter_elements(ScatterElements::from_id(op), e)),
    ),
    (
        ScatterNd::DEF,
        Form::One(|op, e| scatter_nd(ScatterNd::from_id(op), e)),
    ),
];

/// Returns the operator form and attribute for a kind of update; `forms` are those of opset 13, 16 and 18.
fn joining(kind: Update, forms: [&'static Operator; 3]) -> (&'static Operator, Attrs) {
    let (form, word) = match kind {
        Update::Replace => return (forms[0], Vec::new()),
        Update::Add => (1, "add"),
        Update::Mul => (1, "mul"),
        Update::Min => (2, "min"),
        Update::Max => (2, "max"),
    };
    (forms[form], vec![("reduction", word.into())])
}

/// Returns `data` with one extra element along an axis, to which dropped updates are written.
fn with_room(e: &mut Emit<'_>, data: ValueId, axis: usize) -> One {
    let rank = e.rank(data);
    let (low, mut high) = (vec![0; rank], vec![0; rank]);
    high[axis] = 1;
    let (own, dtype) = (e.value(data), e.dtype(data));
    padded(e, op::PAD, dtype, (own, None), [&low, &high], "constant")
}

/// Removes the extra element of [`with_room`].
fn without_room(e: &mut Emit<'_>, x: Val, axis: usize) -> One {
    e.slice(x, &[0], &[-1], &[axis as i64], &[1])
}

fn scatter_elements(op: ScatterElements, e: &mut Emit<'_>) -> One {
    let (data, indices, axis) = (op.data(e.g), op.indices(e.g), op.axis(e.g));
    let axis = e.axis(axis, data);
    let updates = e.value(op.updates(e.g));
    let forms = [
        op::SCATTER_ELEMENTS,
        op::JOINING_SCATTER_ELEMENTS,
        op::EXTREME_SCATTER_ELEMENTS,
    ];
    let (operator, mut attrs) = joining(op.kind(e.g), forms);
    attrs.push(("axis", (axis as i64).into()));
    let places = along(e, data, indices, axis as i64, op.bounds(e.g))?;
    let Some(is_inside) = places.is_inside else {
        let own = e.value(data);
        return e.node(operator, &[own, places.at, updates], attrs);
    };
    let behind = e.extent(data, axis)?;
    let at = e.choose(DType::I64, is_inside, places.at, behind)?;
    let wide = with_room(e, data, axis)?;
    let own = e.node(operator, &[wide, at, updates], attrs)?;
    without_room(e, own, axis)
}

fn scatter_nd(op: ScatterNd, e: &mut Emit<'_>) -> One {
    let (data, indices) = (op.data(e.g), op.indices(e.g));
    let updates = e.value(op.updates(e.g));
    let forms = [
        op::SCATTER_ND,
        op::JOINING_SCATTER_ND,
        op::EXTREME_SCATTER_ND,
    ];
    let (operator, attrs) = joining(op.kind(e.g), forms);
    let places = tuples(e, data, indices, 0, op.bounds(e.g))?;
    let own = e.value(data);
    let Places {
        at,
        is_inside: Some(is_inside),
    } = places
    else {
        return e.node(operator, &[own, places.at, updates], attrs);
    };
    let count = e
        .dims(indices)
        .last()
        .and_then(|dim| dim.fixed())
        .unwrap_or(0);
    if count == 0 {
        return e.node(operator, &[own, at, updates], attrs);
    }
    // An out-of-bounds tuple is redirected to the extra element: its first index is the extent of the axis, the others
    // are 0.
    let all = all_inside(e, is_inside)?;
    let all = e.unsqueeze(all, &[-1])?;
    let behind = extents_of(e, data, 0..1)?;
    let outside = match count {
        1 => behind,
        count => {
            let zeros = e.ints(&vec![0; count as usize - 1]);
            e.concat(&[behind, zeros], 0)?
        }
    };
    let at = e.choose(DType::I64, all, at, outside)?;
    let wide = with_room(e, data, 0)?;
    let own = e.node(operator, &[wide, at, updates], attrs)?;
    without_room(e, own, 0)
}
