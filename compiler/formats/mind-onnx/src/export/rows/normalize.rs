//! Exports normalisations.

use mind_core::ops::normalize::{LayerNorm, Softmax};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::DType;

use super::super::draft::Val;
use super::super::emit::{Emit, One};
use super::super::operator::{self as op, Operator};
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Softmax::DEF,
        Form::One(|op, e| {
            let own = Softmax::from_id(op);
            softmax(e, own.input(e.g), own.axis(e.g))
        }),
    ),
    (
        LayerNorm::DEF,
        Form::One(|op, e| layer_norm(LayerNorm::from_id(op), e)),
    ),
];

fn softmax(e: &mut Emit<'_>, input: ValueId, axis: i64) -> One {
    let (dtype, x) = (e.dtype(input), e.value(input));
    if op::SOFTMAX.runs(dtype, e.opset) {
        return e.node(op::SOFTMAX, &[x], vec![("axis", axis.into())]);
    }
    // Decomposed, because each step must round to the dtype.
    let largest = along(e, op::REDUCE_MAX, dtype, x, axis)?;
    let shifted = e.apply(op::SUB, dtype, &[x, largest], Vec::new())?;
    let powers = e.apply(op::EXP, dtype, &[shifted], Vec::new())?;
    let total = along(e, op::REDUCE_SUM, dtype, powers, axis)?;
    e.apply(op::DIV, dtype, &[powers, total], Vec::new())
}

/// Returns a reduction along one axis, which is kept with extent 1.
fn along(e: &mut Emit<'_>, operator: &'static Operator, dtype: DType, x: Val, axis: i64) -> One {
    let carrier = e.carrier(operator, dtype)?;
    let x = e.cast(x, dtype, carrier)?;
    let own = super::reduce::reduction(e, operator, x, &[axis], true)?;
    e.cast(own, carrier, dtype)
}

/// Exports a layer normalisation as separate nodes, because `LayerNormalization` multiplies by the inverse root, where
/// the op divides by the root.
fn layer_norm(op: LayerNorm, e: &mut Emit<'_>) -> One {
    let dtype = e.dtype(op.input(e.g));
    let input = e.value(op.input(e.g));
    let mean = |e: &mut Emit<'_>, x| along(e, op::REDUCE_MEAN, dtype, x, -1);
    let centre = mean(e, input)?;
    let centred = e.apply(op::SUB, dtype, &[input, centre], Vec::new())?;
    let square = e.apply(op::MUL, dtype, &[centred, centred], Vec::new())?;
    let variance = mean(e, square)?;
    let epsilon = e.number(dtype, 1e-5);
    let moved = e.apply(op::ADD, dtype, &[variance, epsilon], Vec::new())?;
    let root = e.apply(op::SQRT, dtype, &[moved], Vec::new())?;
    e.apply(op::DIV, dtype, &[centred, root], Vec::new())
}
