//! Imports determinants.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::argmax::ArgMax;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::Scan;
use mind_core::ops::extents::Iota;
use mind_core::ops::gather::GatherElements;
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::Operator;
use super::place::elements;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[Operator::one("Det", &[11, 22], determinant)];

/// Returns the product of the pivots of Gaussian elimination with partial pivoting.
fn determinant(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let shape = n.e.shape(x)?;
    let Some((outer, &[rows, columns])) = shape.split_last_chunk() else {
        return Err(Refusal::rank(
            n.operand(0),
            n.e.g().type_text(x),
            "2 or more",
        ));
    };
    if rows != columns {
        return Err(Refusal::extent(
            "the number of columns",
            columns,
            format_args!("{rows}, the number of rows"),
        ));
    }
    let e = &mut n.e;
    let of = e.dtype(x);
    let count = elements(outer)?;
    let matrices = e.reshape_to(x, &[count, rows, rows])?;
    let one = e.number(of, 1.0);
    let product = BroadcastTo::with(&[Dim::Fixed(count)]).build(e, one)?;
    let steps = Iota::with(DType::I64, &[Dim::Fixed(rows)]).build(e)?;
    let attrs = Scan::attrs(2, 1, &[], &[], &[], &[]);
    let operands = [matrices, product, steps];
    let results = e.scan(&attrs, &operands, 2, |e, arguments| {
        let &[matrices, product, step] = arguments else {
            return Err(Refusal::operands(arguments.len(), 3));
        };
        Ok(eliminated(e, [matrices, product, step], count, rows)?.to_vec())
    })?;
    let product = results[1];
    e.reshape_to(product, outer)
}

/// Returns the matrices after eliminating column `step` below the pivot, and the product multiplied by the pivot.
fn eliminated(
    e: &mut Emit<'_>,
    [matrices, product, step]: [ValueId; 3],
    count: i64,
    rows: i64,
) -> Result<[ValueId; 2], Refusal> {
    let of = e.dtype(matrices);
    let zero = e.number(of, 0.0);
    let list = [Dim::Fixed(count), Dim::Fixed(rows)];
    let row = Iota::with(DType::I64, &list).axis(1).build(e)?;
    let index = e.reshape_to(step, &[1, 1, 1])?;
    let column = picked(e, matrices, index, [count, rows, 1], 2)?;
    let column = Squeeze::with(&[2]).build(e, column)?;
    let done = Compare::with(Direction::Lt).build(e, row, step)?;
    let size = e.apply(ScalarFn::Abs, &[column])?;
    let used = e.number(of, -1.0);
    let size = e.apply(ScalarFn::Select, &[done, used, size])?;
    let found = ArgMax::with(1).keepdims(true).build(e, size)?;
    let pivot = picked_from(e, column, found)?;
    // Swaps the rows `step` and `found`.
    let is_step = Compare::with(Direction::Eq).build(e, row, step)?;
    let is_found = Compare::with(Direction::Eq).build(e, row, found)?;
    let other = e.apply(ScalarFn::Select, &[is_found, step, row])?;
    let order = e.apply(ScalarFn::Select, &[is_step, found, other])?;
    let column = picked_from(e, column, order)?;
    let order = ExpandDims::with(&[2]).build(e, order)?;
    let matrices = picked(e, matrices, order, [count, rows, rows], 1)?;
    let stays = Compare::with(Direction::Eq).build(e, found, step)?;
    let minus = e.apply(ScalarFn::Neg, &[pivot])?;
    let signed = e.apply(ScalarFn::Select, &[stays, pivot, minus])?;
    let signed = e.reshape_to(signed, &[count])?;
    let product = e.apply(ScalarFn::Mul, &[product, signed])?;
    let part = e.apply(ScalarFn::Div, &[column, pivot])?;
    let behind = Compare::with(Direction::Gt).build(e, row, step)?;
    let singular = Compare::with(Direction::Eq).build(e, pivot, zero)?;
    let part = e.apply(ScalarFn::Select, &[singular, zero, part])?;
    let part = e.apply(ScalarFn::Select, &[behind, part, zero])?;
    let part = ExpandDims::with(&[2]).build(e, part)?;
    let first = picked(e, matrices, index, [count, 1, rows], 1)?;
    let taken = e.apply(ScalarFn::Mul, &[part, first])?;
    let matrices = e.apply(ScalarFn::Sub, &[matrices, taken])?;
    Ok([matrices, product])
}

/// Gathers elements along `axis` at indices that are broadcast to `shape`.
fn picked(e: &mut Emit<'_>, x: ValueId, index: ValueId, shape: [i64; 3], axis: i64) -> One {
    let index = BroadcastTo::with(&shape.map(Dim::Fixed)).build(e, index)?;
    let gather = GatherElements::with().axis(axis).bounds(Bounds::Strict);
    Ok(gather.build(e, x, index)?)
}

/// Gathers elements of lists, one index for each list.
fn picked_from(e: &mut Emit<'_>, lists: ValueId, index: ValueId) -> One {
    Ok(GatherElements::with().axis(1).build(e, lists, index)?)
}
