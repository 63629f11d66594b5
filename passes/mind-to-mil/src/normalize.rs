//! Lowers softmax and layer normalisation.

use mind_core::ops::normalize::{LayerNorm, Softmax, epsilon};
use mind_ir::opdef::{Op, OpDef};
use mind_mil::ops::activation::SOFTMAX;
use mind_mil::ops::normalization::LAYER_NORM;

use crate::emit::Argument::{Int, Ints, Number, Value};
use crate::emit::Lower;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Softmax::DEF, |op, e| {
        let view = Softmax::from_id(op);
        let (x, axis) = (view.input(e.g()), view.axis(e.g()));
        e.op(&SOFTMAX, &[("x", Value(x)), ("axis", Int(axis))])
    }),
    (LayerNorm::DEF, |op, e| {
        let x = LayerNorm::from_id(op).input(e.g());
        let dtype = e.dtype(x);
        let epsilon = mind_mil::call::floats(&epsilon(dtype))[0];
        e.op(
            &LAYER_NORM,
            &[
                ("x", Value(x)),
                ("axes", Ints(&[-1])),
                ("epsilon", Number(epsilon, dtype)),
            ],
        )
    }),
];
