//! The tensor dialect's own ops.

use mind_core::ops::convert::Cast;
use mind_ir::attr::Padding;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{OpId, ValueId};
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
use crate::contract::{conv, matmul, padding};
use crate::emit::Argument::{Value, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::movement::element;
use crate::refuse::Refused;
use crate::{broadcast, reduce};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Broadcast::DEF, lower_broadcast),
    (Contract::DEF, lower_contract),
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

/// A product of stacks of matrices: batch, free and contracted dimensions in order, each kind as one.
fn lower_contract(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = Contract::from_id(op);
    let (x, y) = (view.lhs(e.g()), view.rhs(e.g()));
    let lists = [
        view.lhs_batch(e.g()),
        view.rhs_batch(e.g()),
        view.lhs_contract(e.g()),
        view.rhs_contract(e.g()),
    ]
    .map(<[i64]>::to_vec);
    let [lhs_batch, rhs_batch, lhs_contract, rhs_contract] = lists;
    let left = Side::new(e, x, &lhs_batch, &lhs_contract)?;
    let right = Side::new(e, y, &rhs_batch, &rhs_contract)?;
    let batch = left.extents(&left.batch);
    let (rows, columns) = (left.extents(&left.free), right.extents(&right.free));
    let shape = [&batch[..], &rows[..], &columns[..]].concat();
    let inner: i64 = left.extents(&left.contracted).iter().product();
    let (m, n) = (
        rows.iter().product::<i64>(),
        columns.iter().product::<i64>(),
    );
    let order = [&left.batch[..], &left.free, &left.contracted].concat();
    let matrix = e.transpose(x, &order)?;
    let (lhs_shape, rhs_shape) =
        match lhs_batch.is_empty() && lhs_contract.len() == 1 && !rows.is_empty() {
            true => ([&rows[..], &[inner]].concat(), vec![inner, n]),
            false => (
                [&batch[..], &[m, inner]].concat(),
                [&batch[..], &[inner, n]].concat(),
            ),
        };
    let matrix = e.reshape(matrix, &lhs_shape)?;
    let order = [&right.batch[..], &right.contracted, &right.free].concat();
    let other = e.transpose(y, &order)?;
    let other = e.constant_or_reshaped(other, &rhs_shape)?;
    let product = matmul(e, matrix, other)?;
    if shape.is_empty() {
        element(e, product, &[0, 0])
    } else {
        e.reshape(product, &shape)
    }
}

/// What each dimension of one operand is for.
struct Side {
    shape: Vec<i64>,
    batch: Vec<i64>,
    free: Vec<i64>,
    contracted: Vec<i64>,
}

impl Side {
    fn new(
        e: &Emit<'_, '_>,
        value: ValueId,
        batch: &[i64],
        contracted: &[i64],
    ) -> Result<Side, Box<Refused>> {
        let shape = e.shape(value)?;
        let named = |axis: &i64| batch.contains(axis) || contracted.contains(axis);
        let free = (0..shape.len() as i64)
            .filter(|axis| !named(axis))
            .collect();
        Ok(Side {
            shape,
            batch: batch.to_vec(),
            free,
            contracted: contracted.to_vec(),
        })
    }

    fn extents(&self, axes: &[i64]) -> Vec<i64> {
        axes.iter().map(|&axis| self.shape[axis as usize]).collect()
    }
}
