//! Imports slices and padding with data-dependent bounds.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::dynamic::DynamicUpdateSlice;
use mind_core::ops::elementwise::Abs;
use mind_core::ops::index::{Gather, Index};
use mind_core::ops::logic::And;
use mind_core::ops::pad::PadMode;
use mind_core::ops::runtime_shape::DynamicIota;
use mind_core::ops::shape::ExpandDims;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_mil::call::integers;

use crate::emit::{Emit, One};
use crate::runtime_shape::{extent, steps, unless};

fn number(e: &mut Emit<'_>, number: i32) -> ValueId {
    e.tensor(&Tensor::scalar(number))
}

/// Returns argument `name` of `op`, a list of integers, as `i32`.
fn list(op: OpId, e: &mut Emit<'_>, name: &str) -> One {
    let list = e.argument(op, name)?;
    e.convert(list, DType::I32)
}

/// Returns entry `at` of a list.
fn entry(e: &mut Emit<'_>, list: ValueId, at: usize) -> One {
    Ok(Index::with(&[at as i64]).build(&mut e.b, list)?)
}

/// Returns the integers from 0 to before `count`.
fn positions(e: &mut Emit<'_>, count: ValueId) -> One {
    let extents = e.reshape_to(count, &[1])?;
    Ok(DynamicIota::with(DType::I32, &[Dim::Dynamic]).build(&mut e.b, extents)?)
}

/// Returns the entries of argument `name` of a slice, one for each dimension of `x`; `each` if it is missing.
fn constants(op: OpId, e: &Emit<'_>, name: &str, each: i64) -> Result<Vec<i64>, Refusal> {
    let call = e.call(op)?;
    let rank = call.ty("x").rank();
    let list = match call.value(name) {
        Some(_) => e.ints(op, name)?,
        None => vec![each; rank],
    };
    if list.len() != rank {
        let found = list.len();
        let reason = "one for each dimension of `x`";
        return Err(Refusal::length(name, found, rank, reason));
    }
    if name == "stride" && list.contains(&0) {
        return Err(Refusal::value("stride", format_args!("{list:?}"), "no 0"));
    }
    Ok(list)
}

/// Replaces the elements of a slice of `x` by `update`. The extents of the slice are those of `update`, because
/// `slice_update` requires bounds that differ by them.
pub(crate) fn update(op: OpId, e: &mut Emit<'_>, x: ValueId, update: ValueId) -> One {
    let rank = e.rank(x);
    let (strides, from_start) = (
        constants(op, e, "stride", 1)?,
        constants(op, e, "begin_mask", 0)?,
    );
    let squeezed = constants(op, e, "squeeze_mask", 0)?;
    if strides.iter().any(|&step| step != 1) {
        let expected = "1 each where bounds come at run time";
        return Err(Refusal::form(
            "`stride`",
            format_args!("{strides:?}"),
            expected,
        ));
    }
    let removed: Vec<i64> = (0..rank as i64)
        .filter(|&axis| squeezed[axis as usize] != 0)
        .collect();
    let update = match removed.is_empty() {
        true => update,
        false => ExpandDims::with(&removed).build(&mut e.b, update)?,
    };
    let is_from_start = e
        .call(op)?
        .value("begin")
        .is_some_and(|begin| is_never_negative(e, begin));
    let begin = list(op, e, "begin")?;
    let mut starts = Vec::with_capacity(rank);
    for axis in 0..rank {
        starts.push(match from_start[axis] != 0 && squeezed[axis] == 0 {
            true => number(e, 0),
            false => entry(e, begin, axis)?,
        });
    }
    let bounds = match is_from_start {
        true => Bounds::Strict,
        false => Bounds::FromEnd,
    };
    Ok(DynamicUpdateSlice::with()
        .bounds(bounds)
        .build(&mut e.b, x, update, &starts)?)
}

/// Returns whether integers are known to be nonnegative, because they are clamped from below, or because a `select`
/// replaces negative ones by indices from the start.
fn is_never_negative(e: &Emit<'_>, value: ValueId) -> bool {
    let Some(op) = e.g().defining_op(value) else {
        return false;
    };
    let Ok(call) = e.call(op) else {
        return false;
    };
    let argument = |name: &str| call.value(name);
    let least = |name: &str| integers(&call.tensor(name).known()?).into_iter().min();
    match call.name {
        "maximum" => ["x", "y"]
            .into_iter()
            .filter_map(least)
            .any(|least| least >= 0),
        "select" => {
            let less = argument("cond").and_then(|cond| e.g().defining_op(cond));
            let less = less.and_then(|less| e.call(less).ok());
            let Some(less) = less.filter(|less| less.name == "less") else {
                return false;
            };
            let zero = less.tensor("y").known();
            let is_sign = zero.is_some_and(|zero| integers(&zero).iter().all(|&zero| zero == 0));
            is_sign && less.value("x") == argument("b")
        }
        _ => false,
    }
}

/// Imports `slice_by_index` of `x`. A range without positions gives an empty result.
pub(crate) fn slice(op: OpId, e: &mut Emit<'_>, x: ValueId) -> One {
    let rank = e.rank(x);
    let strides = constants(op, e, "stride", 1)?;
    let masks = ["begin_mask", "end_mask", "squeeze_mask"].map(|name| constants(op, e, name, 0));
    let [from_start, to_end, squeezed] = masks;
    let (from_start, to_end, squeezed) = (from_start?, to_end?, squeezed?);
    let (begin, end) = (list(op, e, "begin")?, list(op, e, "end")?);
    let mut result = x;
    // From the last axis on, because removing an axis changes the numbers of the later ones.
    for axis in (0..rank).rev() {
        let gather = Gather::with().axis(axis as i64);
        if squeezed[axis] != 0 {
            let index = entry(e, begin, axis)?;
            let gather = gather.bounds(Bounds::FromEnd);
            result = gather.build(&mut e.b, result, index)?;
            continue;
        }
        let (step, is_open) = (strides[axis], [from_start[axis] != 0, to_end[axis] != 0]);
        if step == 1 && is_open == [true, true] {
            continue;
        }
        let own = extent(e, x, axis)?;
        // Bounds of the range: from 0 to the extent going up, from the last element to before the first going down.
        let (least, most) = if step > 0 {
            (number(e, 0), own)
        } else {
            let one = number(e, 1);
            (number(e, -1), e.sub(own, one)?)
        };
        let ends = if step > 0 {
            [least, most]
        } else {
            [most, least]
        };
        let mut bounds = [least, most];
        for (at, bound) in bounds.iter_mut().enumerate() {
            *bound = if is_open[at] {
                ends[at]
            } else {
                let asked = entry(e, [begin, end][at], axis)?;
                let from_end = e.add(asked, own)?;
                let asked = unless(e, Direction::Lt, asked, from_end)?;
                let asked = e.max(asked, least)?;
                e.min(asked, most)?
            };
        }
        let [start, stop] = bounds;
        let distance = e.sub(stop, start)?;
        let step = number(e, step.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        let (count, zero) = (steps(e, distance, step)?, number(e, 0));
        let count = e.max(count, zero)?;
        let at = positions(e, count)?;
        let at = e.mul(at, step)?;
        let indices = e.add(at, start)?;
        result = gather.build(&mut e.b, result, indices)?;
    }
    Ok(result)
}

/// Pads the last dimensions of `x` by the pairs in argument `pad` of `op`. `value` is the padding value in mode
/// `constant`, zero if it is missing.
pub(crate) fn pad(
    op: OpId,
    e: &mut Emit<'_>,
    x: ValueId,
    (mode, value): (PadMode, Option<ValueId>),
) -> One {
    let (pads, rank) = (list(op, e, "pad")?, e.rank(x));
    let entries = e.shape(pads)?;
    let count = match entries[..] {
        [entries] if entries % 2 == 0 && entries / 2 <= rank as i64 => entries as usize / 2,
        _ => {
            let expected = format!("a pair for each of 0 to {rank} last dimensions");
            return Err(Refusal::value("pad", e.g().type_text(pads), expected));
        }
    };
    let mut result = x;
    for at in 0..count {
        let axis = rank - count + at;
        let own = extent(e, x, axis)?;
        let (low, high) = (entry(e, pads, 2 * at)?, entry(e, pads, 2 * at + 1)?);
        let grown = e.add(low, own)?;
        let grown = e.add(grown, high)?;
        let place = positions(e, grown)?;
        let place = e.sub(place, low)?;
        let gather = Gather::with().axis(axis as i64);
        let (zero, one) = (number(e, 0), number(e, 1));
        let last = e.sub(own, one)?;
        result = match mode {
            PadMode::Edge => {
                let gather = gather.bounds(Bounds::Clamp);
                gather.build(&mut e.b, result, place)?
            }
            PadMode::Reflect => {
                let upward = Abs::build(&mut e.b, place)?;
                let twice = e.add(last, last)?;
                let downward = e.sub(twice, upward)?;
                let place = e.min(upward, downward)?;
                gather.build(&mut e.b, result, place)?
            }
            PadMode::Constant | PadMode::Wrap => {
                let gather = gather.bounds(Bounds::Skip);
                let inside = gather.build(&mut e.b, result, place)?;
                let Some(value) = value else {
                    result = inside;
                    continue;
                };
                let first = Compare::with(Direction::Ge).build(&mut e.b, place, zero)?;
                let other = Compare::with(Direction::Le).build(&mut e.b, place, last)?;
                let own = And::build(&mut e.b, first, other)?;
                let axes: Vec<i64> = (1..(rank - axis) as i64).collect();
                let own = ExpandDims::with(&axes).build(&mut e.b, own)?;
                Select::build(&mut e.b, own, inside, value)?
            }
        };
    }
    Ok(result)
}
