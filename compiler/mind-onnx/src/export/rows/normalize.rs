//! Normalisations.

use mind_core::ops::normalize::{LayerNorm, Softmax};
use mind_ir::opdef::Op;

use super::super::draft::AttrDraft;
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Softmax::DEF,
        Form::One(|op, e| {
            let own = Softmax::from_id(op);
            let (dtype, axis) = (e.dtype(own.input(e.g)), own.axis(e.g));
            let input = e.value(own.input(e.g));
            e.apply(op::SOFTMAX, dtype, &[input], vec![("axis", axis.into())])
        }),
    ),
    (
        LayerNorm::DEF,
        Form::One(|op, e| layer_norm(LayerNorm::from_id(op), e)),
    ),
];

/// Written out, since `LayerNormalization` multiplies with the inverse root where the op divides by the root.
fn layer_norm(op: LayerNorm, e: &mut Emit<'_>) -> One {
    let dtype = e.dtype(op.input(e.g));
    let input = e.value(op.input(e.g));
    let mean = |e: &mut Emit<'_>, x| {
        let mut attrs: Attrs = vec![("keepdims", true.into())];
        if e.opset < super::reduce::AXES_AS_INPUT {
            attrs.push(("axes", AttrDraft::Ints(vec![-1])));
            return e.node(op::REDUCE_MEAN, &[x], attrs);
        }
        let axes = e.ints(&[-1]);
        e.node(op::REDUCE_MEAN, &[x, axes], attrs)
    };
    let centre = mean(e, input)?;
    let centred = e.apply(op::SUB, dtype, &[input, centre], Vec::new())?;
    let square = e.apply(op::MUL, dtype, &[centred, centred], Vec::new())?;
    let variance = mean(e, square)?;
    let epsilon = e.number(dtype, 1e-5);
    let moved = e.apply(op::ADD, dtype, &[variance, epsilon], Vec::new())?;
    let root = e.apply(op::SQRT, dtype, &[moved], Vec::new())?;
    e.apply(op::DIV, dtype, &[centred, root], Vec::new())
}
