//! Exports reductions.

use mind_convert::Refusal;
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::convert::{Bitcast, Cast};
use mind_core::ops::cumulative::{Accumulation, Cumulative};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim, TensorType};

use super::super::draft::{AttrDraft, Val};
use super::super::emit::{Attrs, Emit, One};
use super::super::model::type_proto;
use super::super::operator::{self as op, Operator};
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Sum::DEF,
        Form::One(|op, e| {
            let own = Sum::from_id(op);
            reduced(
                e,
                op::REDUCE_SUM,
                own.input(e.g),
                own.axes(e.g),
                own.keepdims(e.g),
            )
        }),
    ),
    (
        Mean::DEF,
        Form::One(|op, e| {
            let own = Mean::from_id(op);
            let dtype = e.dtype(own.input(e.g));
            if !dtype.is_float() && !op::REDUCE_MEAN.runs(dtype, e.opset) {
                // The sum of integers would wrap in their dtype.
                return Err(Refusal::form(
                    "the dtype of its operand",
                    dtype,
                    "a float, or i32 or i64, because sums of others wrap in `ReduceMean`",
                ));
            }
            reduced(
                e,
                op::REDUCE_MEAN,
                own.input(e.g),
                own.axes(e.g),
                own.keepdims(e.g),
            )
        }),
    ),
    (
        Max::DEF,
        Form::One(|op, e| {
            let own = Max::from_id(op);
            reduced(
                e,
                op::REDUCE_MAX,
                own.input(e.g),
                own.axes(e.g),
                own.keepdims(e.g),
            )
        }),
    ),
    (
        Min::DEF,
        Form::One(|op, e| {
            let own = Min::from_id(op);
            reduced(
                e,
                op::REDUCE_MIN,
                own.input(e.g),
                own.axes(e.g),
                own.keepdims(e.g),
            )
        }),
    ),
    (
        Prod::DEF,
        Form::One(|op, e| {
            let own = Prod::from_id(op);
            reduced(
                e,
                op::REDUCE_PROD,
                own.input(e.g),
                own.axes(e.g),
                own.keepdims(e.g),
            )
        }),
    ),
    (
        ArgMax::DEF,
        Form::One(|op, e| {
            let own = ArgMax::from_id(op);
            let (input, axis) = (own.input(e.g), own.axis(e.g));
            place(
                e,
                op::ARG_MAX,
                input,
                axis,
                own.keepdims(e.g),
                own.last(e.g),
            )
        }),
    ),
    (
        ArgMin::DEF,
        Form::One(|op, e| {
            let own = ArgMin::from_id(op);
            let (input, axis) = (own.input(e.g), own.axis(e.g));
            place(
                e,
                op::ARG_MIN,
                input,
                axis,
                own.keepdims(e.g),
                own.last(e.g),
            )
        }),
    ),
    (
        Cumulative::DEF,
        Form::One(|op, e| cumulative(Cumulative::from_id(op), e)),
    ),
    (
        Cast::DEF,
        Form::One(|op, e| {
            let own = Cast::from_id(op);
            let from = e.dtype(own.input(e.g));
            let input = e.value(own.input(e.g));
            e.cast(input, from, own.dtype(e.g))
        }),
    ),
    (
        Bitcast::DEF,
        Form::One(|op, e| {
            let own = Bitcast::from_id(op);
            let (from, to) = (e.dtype(own.input(e.g)), own.dtype(e.g));
            let input = e.value(own.input(e.g));
            if from == to {
                return Ok(input);
            }
            if from.size() != to.size() {
                let expected = format!(
                    "one of {} bytes, as {from} has, because `BitCast` keeps the shape",
                    from.size()
                );
                return Err(Refusal::form("`dtype`", to, expected));
            }
            e.node(op::BIT_CAST, &[input], vec![("to", to.into())])
        }),
    ),
];

/// The first opset in which reductions other than sums take their axes as an input.
pub(super) const AXES_AS_INPUT: i64 = 18;

fn reduced(
    e: &mut Emit<'_>,
    operator: &'static Operator,
    input: ValueId,
    axes: &[i64],
    keepdims: bool,
) -> One {
    let dtype = e.dtype(input);
    let own = e.value(input);
    let carrier = e.carrier(operator, dtype)?;
    let own = e.cast(own, dtype, carrier)?;
    let own = reduction(e, operator, own, axes, keepdims)?;
    e.cast(own, carrier, dtype)
}

/// Returns a reduction of `x` with the axes as an attribute or an input.
pub(super) fn reduction(
    e: &mut Emit<'_>,
    operator: &'static Operator,
    x: Val,
    axes: &[i64],
    keepdims: bool,
) -> One {
    // An empty list means all axes, which are not kept here.
    let mut attrs: Attrs = vec![("keepdims", (keepdims && !axes.is_empty()).into())];
    let mut inputs = vec![x];
    let as_input = e.opset >= AXES_AS_INPUT || std::ptr::eq(operator, op::REDUCE_SUM);
    match axes {
        [] => {}
        axes if as_input => inputs.push(e.ints(axes)),
        axes => attrs.push(("axes", axes.into())),
    }
    e.node(operator, &inputs, attrs)
}

fn place(
    e: &mut Emit<'_>,
    operator: &'static Operator,
    input: ValueId,
    axis: i64,
    keepdims: bool,
    last: bool,
) -> One {
    let attrs = vec![
        ("axis", AttrDraft::Int(axis)),
        ("keepdims", keepdims.into()),
        ("select_last_index", last.into()),
    ];
    let own = e.value(input);
    e.test(operator, e.dtype(input), &[own], attrs)
}

/// Returns the operator of an accumulation, and its initial value.
fn step(kind: Accumulation, dtype: DType) -> (&'static Operator, f64) {
    let lowest = match dtype.is_float() {
        true => f64::NEG_INFINITY,
        false => f64::MIN,
    };
    match kind {
        Accumulation::Sum => (op::ADD, 0.0),
        Accumulation::Prod => (op::MUL, 1.0),
        Accumulation::Max => (op::MAX, lowest),
        Accumulation::Min => (op::MIN, -lowest),
    }
}

fn cumulative(op: Cumulative, e: &mut Emit<'_>) -> One {
    let (input, axis) = (op.input(e.g), op.axis(e.g));
    let (exclusive, reverse) = (op.exclusive(e.g), op.reverse(e.g));
    let dtype = e.dtype(input);
    let own = e.value(input);
    if op.kind(e.g) == Accumulation::Sum {
        let axis = e.int(axis);
        let carrier = e.carrier(op::CUM_SUM, dtype)?;
        let own = e.cast(own, dtype, carrier)?;
        let attrs = vec![("exclusive", exclusive.into()), ("reverse", reverse.into())];
        let own = e.node(op::CUM_SUM, &[own, axis], attrs)?;
        return e.cast(own, carrier, dtype);
    }
    scanned(op, e, own)
}

/// Exports a cumulative product or extreme as a scan over the slices.
fn scanned(op: Cumulative, e: &mut Emit<'_>, own: Val) -> One {
    let dtype = e.dtype(op.input(e.g));
    // Narrower dtypes are carried in a wider one and rounded at the end.
    let carrier = dtype.carrier();
    let (operator, identity) = step(op.kind(e.g), carrier);
    let carrier = e.carrier(operator, carrier)?;
    let mut slice: Vec<Dim> = e.dims(op.input(e.g)).to_vec();
    let axis = e.axis(op.axis(e.g), op.input(e.g));
    slice.remove(axis);
    let wide = e.cast(own, dtype, carrier)?;
    let start = match dtype.is_float() {
        true => e.number(carrier, identity),
        // The least integer of the dtype, to which the conversion from `f64` saturates.
        false => {
            let least = mind_convert::scalar(dtype, identity);
            let least = mind_convert::converted(&least, carrier);
            e.tensor(&least)
        }
    };
    let start = e.expand(carrier, start, &slice)?;
    let (state, part) = (e.fresh("state"), e.fresh("part"));
    let ty = type_proto(e.g, TensorType::new(carrier, slice).view());
    let body = e.graph(vec![(state, ty.clone()), (part, ty)], |e| {
        let next = e.node(operator, &[state, part], Vec::new())?;
        let prefix = if op.exclusive(e.g) { state } else { next };
        Ok(vec![(next, None), (prefix, None)])
    })?;
    let direction = i64::from(op.reverse(e.g));
    let attrs: Attrs = vec![
        ("body", body.into()),
        ("num_scan_inputs", AttrDraft::Int(1)),
        ("scan_input_axes", AttrDraft::Ints(vec![axis as i64])),
        ("scan_output_axes", AttrDraft::Ints(vec![axis as i64])),
        ("scan_input_directions", AttrDraft::Ints(vec![direction])),
        ("scan_output_directions", AttrDraft::Ints(vec![direction])),
    ];
    let results = e.nodes(op::SCAN, &[Some(start), Some(wide)], attrs, 2)?;
    e.cast(results[1], carrier, dtype)
}
