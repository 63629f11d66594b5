//! Lowers the ops that only the tensor dialect has.

use mind_convert::Refusal;
use mind_core::ops::convert::Cast;
use mind_core::parts::Parts;
use mind_ir::OpId;
use mind_ir::attr::Padding;
use mind_ir::opdef::{Op, OpDef};
use mind_mil::Element;
use mind_mil::ops::reduction::{REDUCE_MAX, REDUCE_MEAN, REDUCE_MIN, REDUCE_PROD, REDUCE_SUM};
use mind_mil::ops::unary::CAST;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::cumulative::Cumulative;
use mind_tensor::ops::reduce::{Reduce, Reduction};
use mind_tensor::ops::reshape::Reshape;
use mind_tensor::ops::transpose::Transpose;
use mind_tensor::ops::window::Window;

use crate::constant::narrowed;
use crate::contract::{conv, padding};
use crate::emit::Argument::{Value, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::{broadcast, product, reduce};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Broadcast::DEF, lower_broadcast),
    (Contract::DEF, |op, e| {
        let view = Contract::from_id(op);
        if view.parts(e.g()) != Parts::Whole {
            return Err(Refusal::no_counterpart(
                "no op of MIL multiplies parts of integers",
            ));
        }
        let operands = [view.lhs(e.g()), view.rhs(e.g())];
        let ranks = operands.map(|value| e.g().ty(value).rank());
        let pairs = view.pairs(e.g(), ranks)?;
        product::paired(e, &pairs, operands)
    }),
    (Cast::DEF, lower_cast),
    (Reduce::DEF, lower_reduce),
    (Cumulative::DEF, |op, e| {
        let view = Cumulative::from_id(op);
        let (x, axis, prefixes) = (view.input(e.g()), view.axis(e.g()), view.prefixes(e.g()));
        reduce::cumulative(e, x, axis, prefixes)
    }),
    (Reshape::DEF, |op, e| {
        let x = Reshape::from_id(op).input(e.g());
        let shape = e.shape(e.g().result(op))?;
        e.reshape(x, &shape)
    }),
    (Transpose::DEF, |op, e| {
        let view = Transpose::from_id(op);
        let (x, perm) = (view.input(e.g()), view.permutation(e.g()).to_vec());
        e.transpose(x, &perm)
    }),
    (Window::DEF, |op, e| {
        let view = Window::from_id(op);
        let (x, filter) = (view.input(e.g()), view.filter(e.g()));
        let strides = view.strides(e.g()).to_vec();
        let (word, pads) = match view.padding(e.g()) {
            Padding::Same => ("same", [0; 4]),
            other => padding(other),
        };
        conv(e, x, filter, &strides, word, &pads)
    }),
];

fn lower_broadcast(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = Broadcast::from_id(op);
    let (x, dims) = (view.inputs(e.g())[0], view.dims(e.g()).to_vec());
    let shape = e.shape(e.g().result(op))?;
    broadcast::to_shape(e, x, &dims, &shape)
}

fn lower_cast(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = Cast::from_id(op);
    let (x, to) = (view.input(e.g()), view.dtype(e.g()));
    let to = narrowed(to, e.float())?;
    match e.dtype(x) == to {
        true => Ok(x),
        false => e.op(
            &CAST,
            &[("x", Value(x)), ("dtype", Word(Element::of(to).name()))],
        ),
    }
}

fn lower_reduce(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = Reduce::from_id(op);
    let row = match view.kind(e.g()) {
        Reduction::Sum => &REDUCE_SUM,
        Reduction::Mean => &REDUCE_MEAN,
        Reduction::Max => &REDUCE_MAX,
        Reduction::Min => &REDUCE_MIN,
        Reduction::Prod => &REDUCE_PROD,
    };
    let (x, axes, keep) = (
        view.input(e.g()),
        view.axes(e.g()).to_vec(),
        view.keepdims(e.g()),
    );
    reduce::reduce(e, row, x, &axes, keep)
}
