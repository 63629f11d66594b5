//! Imports sorts and one-hot encodings.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::data::NonZero;
use mind_core::ops::extents::Iota;
use mind_core::ops::sort::{Sort, TopK};
use mind_ir::OpId;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_mil::MilOp;
use mind_mil::ops::tensor;

use crate::emit::{Emit, Import, Many, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&tensor::ARGSORT, |op, e| {
        let x = e.argument(op, "x")?;
        let call = e.call(op)?;
        let axis = call.axis(call.int("axis").unwrap_or(-1), e.rank(x))?;
        let descending = !call.flag("ascending");
        let attrs = Sort::attrs(axis as i64, descending);
        let sort = e.b.create(Sort::DEF, &[x], &attrs)?;
        let places = e.g().results(sort).get(1);
        e.convert(places, DType::I32)
    }),
    (&tensor::NON_ZERO, |op, e| {
        let x = e.argument(op, "x")?;
        let columns = NonZero::build(&mut e.b, x)?;
        let rows = e.transpose(columns, &[1, 0])?;
        e.convert(rows, DType::I32)
    }),
    (&tensor::ONE_HOT, one_hot),
];

/// Imports `topk`: the first sorted elements and their indices, in the dtype of the second result.
pub(crate) fn top_k(op: OpId, e: &mut Emit<'_>) -> Many {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), e.rank(x))?;
    let k = call.int("k").ok_or_else(|| Refusal::missing("k"))?;
    let largest = !call.flag("ascending");
    let attrs = TopK::attrs(k, axis as i64, largest);
    let top = e.b.create(TopK::DEF, &[x], &attrs)?;
    let made = e.g().results(top);
    let (values, places) = (made.get(0), made.get(1));
    let results = e.g().results(op);
    if results.len() == 1 {
        return Ok(vec![values]);
    }
    let places = e.convert(places, e.dtype(results.get(1)))?;
    Ok(vec![values, places])
}

/// Imports `one_hot`: one value where the position along the new axis is the index, and another value elsewhere; a
/// negative index counts from the end.
fn one_hot(op: OpId, e: &mut Emit<'_>) -> One {
    let indices = e.argument(op, "indices")?;
    let size = e.ints(op, "one_hot_vector_size")?;
    let &[size] = &size[..] else {
        let (found, reason) = (size.len(), "a single number");
        return Err(Refusal::length("one_hot_vector_size", found, 1, reason));
    };
    let shape = e.shape(e.g().result(op))?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), shape.len())?;
    let [zero, count] = [0, size as i32].map(|number| e.tensor(&Tensor::scalar(number)));
    let is_negative = Compare::with(Direction::Lt).build(&mut e.b, indices, zero)?;
    let from_end = e.add(indices, count)?;
    let places = Select::build(&mut e.b, is_negative, from_end, indices)?;
    let mut thin = shape.clone();
    thin[axis] = 1;
    let places = e.reshape_to(places, &thin)?;
    let mut row = vec![Dim::Fixed(1); shape.len() - axis];
    row[0] = Dim::Fixed(size);
    let positions = Iota::with(DType::I32, &row).build(&mut e.b)?;
    let is_place = Compare::with(Direction::Eq).build(&mut e.b, places, positions)?;
    let on = value(op, e, "on_value", 1)?;
    let off = value(op, e, "off_value", 0)?;
    Ok(Select::build(&mut e.b, is_place, on, off)?)
}

/// Returns the argument `name`, or `default` if it is missing.
fn value(op: OpId, e: &mut Emit<'_>, name: &str, default: i32) -> One {
    match e.optional(op, name)? {
        Some(value) => Ok(value),
        None => Ok(e.tensor(&Tensor::scalar(default))),
    }
}
