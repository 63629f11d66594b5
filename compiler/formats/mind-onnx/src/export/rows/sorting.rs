//! Exports sorts and data-dependent indices.

use mind_core::ops::data::{NonMaxSuppression, NonZero, Unique};
use mind_core::ops::sort::{Sort, TopK};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::DType;

use super::super::draft::Val;
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::index::extents_of;
use super::{Form, Many, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Sort::DEF,
        Form::Many(|op, e| {
            let own = Sort::from_id(op);
            let (input, axis) = (own.input(e.g), own.axis(e.g));
            let at = e.axis(axis, input);
            let count = extents_of(e, input, at..at + 1)?;
            ordered(e, input, count, axis, own.descending(e.g))
        }),
    ),
    (
        TopK::DEF,
        Form::Many(|op, e| {
            let own = TopK::from_id(op);
            let count = e.ints(&[own.k(e.g)]);
            let (input, axis) = (own.input(e.g), own.axis(e.g));
            ordered(e, input, count, axis, own.largest(e.g))
        }),
    ),
    (
        NonZero::DEF,
        Form::One(|op, e| {
            let input = NonZero::from_id(op).input(e.g);
            let (own, dtype) = (e.value(input), e.dtype(input));
            if op::NON_ZERO.runs(dtype, e.opset) {
                return e.node(op::NON_ZERO, &[own], Vec::new());
            }
            let zero = e.number(dtype, 0.0);
            let is_zero = e.test(op::EQUAL, dtype, &[own, zero], Vec::new())?;
            let is_other = e.node(op::NOT, &[is_zero], Vec::new())?;
            e.node(op::NON_ZERO, &[is_other], Vec::new())
        }),
    ),
    (
        Unique::DEF,
        Form::Many(|op, e| unique(Unique::from_id(op), e)),
    ),
    (
        NonMaxSuppression::DEF,
        Form::One(|op, e| suppressed(NonMaxSuppression::from_id(op), e)),
    ),
];

/// Returns the first `count` elements in sorted order, and their indices.
fn ordered(e: &mut Emit<'_>, input: ValueId, count: Val, axis: i64, largest: bool) -> Many {
    let dtype = e.dtype(input);
    let own = e.value(input);
    let carrier = e.carrier(op::TOP_K, dtype)?;
    let own = e.cast(own, dtype, carrier)?;
    let attrs: Attrs = vec![
        ("axis", axis.into()),
        ("largest", largest.into()),
        ("sorted", true.into()),
    ];
    let results = e.nodes(op::TOP_K, &[Some(own), Some(count)], attrs, 2)?;
    Ok(vec![e.cast(results[0], carrier, dtype)?, results[1]])
}

fn unique(op: Unique, e: &mut Emit<'_>) -> Many {
    let input = op.input(e.g);
    let dtype = e.dtype(input);
    let own = e.value(input);
    let carrier = e.carrier(op::UNIQUE, dtype)?;
    let own = e.cast(own, dtype, carrier)?;
    let mut attrs: Attrs = vec![("sorted", op.sorted(e.g).into())];
    if !op.flat(e.g) {
        attrs.push(("axis", op.axis(e.g).into()));
    }
    let mut results = e.nodes(op::UNIQUE, &[Some(own)], attrs, 4)?;
    results[0] = e.cast(results[0], carrier, dtype)?;
    Ok(results)
}

fn suppressed(op: NonMaxSuppression, e: &mut Emit<'_>) -> One {
    let g = e.g;
    let max = e.value(op.max(g));
    let max = e.cast(max, e.dtype(op.max(g)), DType::I64)?;
    let [boxes, scores, iou, score] =
        [op.boxes(g), op.scores(g), op.iou(g), op.score(g)].map(|own| e.value(own));
    let mut inputs = vec![boxes, scores];
    for number in [max, iou, score] {
        inputs.push(e.unsqueeze(number, &[0])?);
    }
    let attrs = vec![("center_point_box", op.centre(g).into())];
    e.node(op::NON_MAX_SUPPRESSION, &inputs, attrs)
}
