//! Matches MIL's shape ops in the core ops that define them.

use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::index::Slice;
use mind_core::ops::join::Concat;
use mind_core::ops::pad::{Margins, PadMode, PadOp};
use mind_core::ops::shape::{ExpandDims, Reshape, Reverse, Transpose, effective_permutation};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::{OpId, ValueId};
use mind_mil::blocks::BLOCKS;
use mind_mil::ops::movement::{BATCH_TO_SPACE, PIXEL_UNSHUFFLE, SLICE_BY_INDEX, SPACE_TO_BATCH};
use mind_mil::ops::tensor::{CONCAT, STACK, TILE};

use crate::found::{Found, Given, Recognizer};

pub(crate) const RECOGNIZERS: &[Recognizer] = &[
    |g, op, _| slice(g, op),
    |g, op, _| interleaved(g, op),
    |g, op, _| stack(g, op),
    |g, op, _| tile(g, op),
    |g, op, _| blocks(g, op),
    |g, op, _| to_batch(g, op),
    |g, op, _| from_batch(g, op),
];

/// Returns the op that made `value`, if it is a `T`.
pub(crate) fn made<T: Op>(g: &Graph, value: ValueId) -> Option<T> {
    g.view::<T>(g.defining_op(value)?)
}

pub(crate) fn shape(g: &Graph, value: ValueId) -> Option<Vec<i64>> {
    g.ty(value).static_shape()
}

/// Matches a strided slice with reversed and removed axes, for example `x[::-1, 0]`.
fn slice(g: &Graph, op: OpId) -> Option<Found> {
    let result = g.results(op).iter().next()?;
    let (value, target) = match g.view::<Reshape>(op) {
        Some(reshape) => (reshape.input(g), Some(shape(g, result)?)),
        None => (result, None),
    };
    let reverse = made::<Reverse>(g, value);
    let part = made::<Slice>(g, reverse.map_or(value, |reverse| reverse.input(g)))?;
    if reverse.is_none() && target.is_none() {
        return None;
    }
    let (x, counts) = (part.input(g), shape(g, value)?);
    let (extents, rank) = (shape(g, x)?, counts.len());
    let backwards = |at: usize| {
        let at = at as i64;
        let axes = reverse.map_or(&[][..], |reverse| reverse.axes(g));
        axes.iter().any(|axis| axis.rem_euclid(rank as i64) == at)
    };
    let squeezed = match target {
        Some(target) => removed(&counts, &target)?,
        None => vec![false; rank],
    };
    if counts.contains(&0) {
        return None;
    }
    let (mut begin, mut end, mut stride) = (Vec::new(), Vec::new(), Vec::new());
    let mut end_mask = vec![false; rank];
    for at in 0..rank {
        let (start, step) = (part.starts(g)[at], part.steps(g)[at]);
        let last = start + (counts[at] - 1) * step;
        if backwards(at) && !squeezed[at] {
            begin.push(last);
            end_mask[at] = start == 0;
            end.push((start - 1).max(0));
            stride.push(-step);
        } else {
            begin.push(start);
            end.push((last + 1).min(extents[at]));
            stride.push(if squeezed[at] { 1 } else { step });
        }
    }
    let mut found = Found::new(&SLICE_BY_INDEX);
    found.operand("x", x);
    found.give("begin", Given::Ints(begin));
    found.give("end", Given::Ints(end));
    found.give("stride", Given::Ints(stride));
    found.give("end_mask", Given::Flags(end_mask));
    found.give("squeeze_mask", Given::Flags(squeezed));
    Some(found)
}

/// Returns which dimensions of extent 1 are removed in `target`; `None` if it differs in another way.
fn removed(counts: &[i64], target: &[i64]) -> Option<Vec<bool>> {
    let mut left = target;
    let mut flags = Vec::with_capacity(counts.len());
    for &count in counts {
        match left {
            [first, rest @ ..] if *first == count => {
                left = rest;
                flags.push(false);
            }
            _ if count == 1 => flags.push(true),
            _ => return None,
        }
    }
    left.is_empty().then_some(flags)
}

/// Returns the value that has a new dimension of extent 1 at `axis` in `value`.
fn thinned(g: &Graph, value: ValueId, axis: usize) -> Option<ValueId> {
    let input = match (made::<Reshape>(g, value), made::<ExpandDims>(g, value)) {
        (Some(reshape), _) => reshape.input(g),
        (_, Some(expand)) => expand.input(g),
        (None, None) => return None,
    };
    let mut thin = shape(g, input)?;
    (axis <= thin.len()).then(|| thin.insert(axis, 1))?;
    (shape(g, value)? == thin).then_some(input)
}

/// Returns the values that `concat` stacks along a new dimension, and that dimension.
fn stacked(g: &Graph, concat: Concat) -> Option<(Vec<ValueId>, usize)> {
    let inputs = concat.inputs(g);
    let rank = g.ty(*inputs.first()?).rank() as i64;
    let axis = usize::try_from(concat.axis(g).rem_euclid(rank)).ok()?;
    let values = inputs.iter().map(|&input| thinned(g, input, axis));
    let values: Vec<ValueId> = values.collect::<Option<_>>()?;
    let first = shape(g, *values.first()?)?;
    let alike = values
        .iter()
        .all(|&value| shape(g, value).as_ref() == Some(&first));
    alike.then_some((values, axis))
}

fn stack(g: &Graph, op: OpId) -> Option<Found> {
    let (values, axis) = stacked(g, g.view::<Concat>(op)?)?;
    let mut found = Found::new(&STACK);
    found.operands("values", &values);
    found.give("axis", Given::Int(axis as i64));
    Some(found)
}

/// Matches tensors that are stacked after an axis and then merged into it.
fn interleaved(g: &Graph, op: OpId) -> Option<Found> {
    let reshape = g.view::<Reshape>(op)?;
    let (values, behind) = stacked(g, made::<Concat>(g, reshape.input(g))?)?;
    let axis = behind.checked_sub(1)?;
    let mut joined = shape(g, values[0])?;
    *joined.get_mut(axis)? *= values.len() as i64;
    (shape(g, g.result(op))? == joined).then_some(())?;
    let mut found = Found::new(&CONCAT);
    found.operands("values", &values);
    found.give("axis", Given::Int(axis as i64));
    found.give("interleave", Given::Flag(true));
    Some(found)
}

/// Matches a tile: a broadcast along a new dimension before each dimension, followed by a reshape that merges them.
fn tile(g: &Graph, op: OpId) -> Option<Found> {
    let reshape = g.view::<Reshape>(op)?;
    let broadcast = made::<BroadcastTo>(g, reshape.input(g))?;
    let x = made::<Reshape>(g, broadcast.input(g))?.input(g);
    let (own, twice) = (shape(g, x)?, shape(g, broadcast.result(g))?);
    let thin: Vec<i64> = own.iter().flat_map(|&extent| [1, extent]).collect();
    let (pairs, _) = twice.as_chunks::<2>();
    let whole: Vec<i64> = pairs.iter().map(|[times, extent]| times * extent).collect();
    let kept = pairs.iter().map(|pair| pair[1]).eq(own.iter().copied());
    if shape(g, broadcast.input(g))? != thin || !kept || shape(g, g.result(op))? != whole {
        return None;
    }
    let mut found = Found::new(&TILE);
    found.operand("x", x);
    found.give(
        "reps",
        Given::Ints(pairs.iter().map(|pair| pair[0]).collect()),
    );
    Some(found)
}

/// Matches `[reshape, transpose, reshape]` and returns the input, its split dimensions, and their permutation.
fn permuted(g: &Graph, op: OpId) -> Option<(ValueId, Vec<i64>, Vec<i64>)> {
    let transpose = made::<Transpose>(g, g.view::<Reshape>(op)?.input(g))?;
    let apart = made::<Reshape>(g, transpose.input(g))?;
    let split = shape(g, apart.result(g))?;
    let order = effective_permutation(transpose.permutation(g), split.len());
    Some((apart.input(g), split, order))
}

/// Matches the ops that exchange channels with height and width: depth to space, space to depth and pixel shuffles.
fn blocks(g: &Graph, op: OpId) -> Option<Found> {
    let (x, split, order) = permuted(g, op)?;
    let own: [i64; 4] = shape(g, x)?.try_into().ok()?;
    let result = shape(g, g.result(op))?;
    let rows = BLOCKS.iter().filter(|row| row.order[..] == order[..]);
    let mut rows = rows.flat_map(|row| split.iter().map(move |&factor| (row, factor)));
    let (row, factor) = rows.find(|(row, factor)| {
        if *factor < 2 {
            return false;
        }
        let (expected, joined) = row.shapes(*factor, own);
        split == expected && result == joined
    })?;
    let mut found = Found::new(row.op);
    found.operand("x", x);
    let factor = if std::ptr::eq(row.op, &raw const PIXEL_UNSHUFFLE) {
        Given::Tensor(Tensor::scalar(factor as u32))
    } else {
        Given::Int(factor)
    };
    found.give(row.factor, factor);
    Some(found)
}

fn pairs(ends: [[i64; 2]; 2]) -> Given {
    let list = ends.as_flattened().iter().map(|&end| end as i32);
    Given::Tensor(Tensor::of(vec![2, 2], list.collect()))
}

/// Matches space to batch: positions in blocks of height and width become batches.
fn to_batch(g: &Graph, op: OpId) -> Option<Found> {
    let (whole, split, order) = permuted(g, op)?;
    let [n, c, rows, p, columns, q] = split.try_into().ok()?;
    let joined = [n * p * q, c, rows, columns];
    (order == [3, 5, 0, 1, 2, 4] && shape(g, g.result(op))? == joined).then_some(())?;
    let (x, ends) = padded(g, whole).unwrap_or((whole, [[0; 2]; 2]));
    let mut found = Found::new(&SPACE_TO_BATCH);
    found.operand("x", x);
    found.give("block_shape", Given::Ints(vec![p, q]));
    found.give("paddings", pairs(ends));
    Some(found)
}

/// Returns the value that is padded with zeros along the last two of its four dimensions, and the padding.
fn padded(g: &Graph, value: ValueId) -> Option<(ValueId, [[i64; 2]; 2])> {
    let pad = made::<PadOp>(g, value)?;
    let margins: [Margins; 4] = Margins::of(pad, g).try_into().ok()?;
    let zero = pad.value(g).is_none_or(|value| {
        let own = crate::compose::number(g, value);
        own.is_some_and(|own| own.to_bits() == 0)
    });
    let ends = margins.map(|own| [own.low, own.high]);
    let plain = margins
        .iter()
        .all(|own| own.interior == 0 && own.low >= 0 && own.high >= 0);
    let is_image = ends[0] == [0, 0] && ends[1] == [0, 0];
    let fits = pad.mode(g) == PadMode::Constant && zero && plain && is_image;
    fits.then_some((pad.input(g), [ends[2], ends[3]]))
}

/// Matches batch to space, with its crops: batches become positions in blocks of height and width.
fn from_batch(g: &Graph, op: OpId) -> Option<Found> {
    let (reshape, cut) = match g.view::<Slice>(op) {
        Some(part) => (g.defining_op(part.input(g))?, Some(part)),
        None => (op, None),
    };
    let (x, split, order) = permuted(g, reshape)?;
    let [p, q, outer, c, h, w] = split.try_into().ok()?;
    let joined = [outer, c, h * p, w * q];
    let result = shape(g, g.result(reshape))?;
    (order == [2, 3, 4, 0, 5, 1] && result == joined).then_some(())?;
    let ends = match cut {
        None => [[0; 2]; 2],
        Some(part) => {
            let (starts, ends) = (part.starts(g), part.ends(g));
            let whole = (0..2).all(|at| starts[at] == 0 && ends[at] >= joined[at]);
            (whole && part.steps(g).iter().all(|&step| step == 1)).then_some(())?;
            [2, 3].map(|at| [starts[at], (joined[at] - ends[at]).max(0)])
        }
    };
    let mut found = Found::new(&BATCH_TO_SPACE);
    found.operand("x", x);
    found.give("block_shape", Given::Ints(vec![p, q]));
    found.give("crops", pairs(ends));
    Some(found)
}
