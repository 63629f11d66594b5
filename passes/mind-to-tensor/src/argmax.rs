//! Lowers `argmax` and `argmin` along an axis of known extent.

use mind_core::axes::resolve;
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::logic::Or;
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_tensor::ops::reduce::Reduction;

use crate::broadcast::broadcast_with;
use crate::emit::{LowerKnown, cast, map, reduce, shape};
use crate::known::{Known, iota};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (ArgMax::DEF, |op, b| {
        let view = ArgMax::from_id(op);
        let (axis, keepdims, last) = (
            view.axis(b.graph),
            view.keepdims(b.graph),
            view.last(b.graph),
        );
        emit_index(b, view.input(b.graph), Reduction::Max, axis, keepdims, last)
    }),
    (ArgMin::DEF, |op, b| {
        let view = ArgMin::from_id(op);
        let (axis, keepdims, last) = (
            view.axis(b.graph),
            view.keepdims(b.graph),
            view.last(b.graph),
        );
        emit_index(b, view.input(b.graph), Reduction::Min, axis, keepdims, last)
    }),
];

/// Emits the least, or largest, index of the elements that equal the extreme or are NaN.
///
/// The NaN test is separate, because with a NaN element the extreme is NaN, which equals nothing.
fn emit_index(
    b: &mut Builder<'_>,
    input: ValueId,
    kind: Reduction,
    axis: i64,
    keepdims: bool,
    last: bool,
) -> Known {
    let shape = shape(b, input);
    let at = resolve("argmax", axis, shape.len())?;
    let axis = [at as i64];
    // Indices are compared as `i32`.
    let Some(extent) = shape[at].fixed().filter(|&own| own <= i32::MAX.into()) else {
        return Ok(None);
    };
    let mut thin = vec![Dim::Fixed(1); shape.len()];
    thin[at] = shape[at];
    let Some(indices) = iota(b, DType::I32, &thin, at)? else {
        return Ok(None);
    };
    let indices = broadcast_with(b, indices, input)?;
    let extreme = reduce(b, kind, input, &axis, true)?;
    let extreme = broadcast_with(b, extreme, input)?;
    let (unchosen, choice) = match last {
        false => (extent as i32, Reduction::Min),
        true => (-1, Reduction::Max),
    };
    let candidates = map(b, &[input, extreme, indices], |b, scalars| {
        let &[x, extreme, index] = scalars else {
            unreachable!("a scalar for each operand")
        };
        let same = Compare::with(Direction::Eq).build(b, x, extreme)?;
        let nan = Compare::with(Direction::Ne).build(b, x, x)?;
        let chosen = Or::build(b, same, nan)?;
        let unchosen = mind_core::constant(b, &Tensor::scalar(unchosen));
        Select::build(b, chosen, index, unchosen)
    })?;
    let place = reduce(b, choice, candidates, &axis, keepdims)?;
    cast(b, place, DType::I64).map(Some)
}
