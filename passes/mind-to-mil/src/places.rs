//! Matches gathers, scatters and slice updates of MIL in the core ops that define them.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::elementwise::{Add, Neg};
use mind_core::ops::extents::Iota;
use mind_core::ops::gather::GatherNd;
use mind_core::ops::pad::{Margins, PadMode, PadOp};
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_core::ops::shape::Reshape;
use mind_ir::graph::Graph;
use mind_ir::tensor::advance;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::call::integers;
use mind_mil::ops::index::{GATHER, SCATTER, SCATTER_ALONG_AXIS, SCATTER_ND};
use mind_mil::ops::movement::SLICE_UPDATE;
use mind_mil::ops::tensor::ONE_HOT;

use crate::compose::{constant, number};
use crate::found::{Found, Given, Recognizer};
use crate::movement::mode;
use crate::shapes::{made, shape};

pub(crate) const RECOGNIZERS: &[Recognizer] = &[
    scatter,
    scatter_along_axis,
    scatter_nd,
    gather,
    |g, op, _| slice_update(g, op),
    |g, op, _| one_hot(g, op),
];

/// Returns the operand of a negation whose result is added, so that the scatter can subtract it.
fn subtracted(g: &Graph, kind: Update, updates: ValueId) -> Option<ValueId> {
    let negative = made::<Neg>(g, updates).filter(|_| kind == Update::Add)?;
    Some(negative.input(g))
}

fn joined(g: &Graph, kind: Update, updates: ValueId) -> (&'static str, ValueId) {
    match subtracted(g, kind, updates) {
        Some(updates) => ("sub", updates),
        None => (mode(kind), updates),
    }
}

/// Adds the argument that turns off index validation, in opsets that have it.
fn unchecked(mut found: Found, opset: Opset) -> Found {
    if opset >= Opset::Ios17 {
        found.give("validate_indices", Given::Flag(false));
    }
    found
}

fn reaches(bounds: Bounds) -> bool {
    matches!(bounds, Bounds::Strict | Bounds::FromEnd)
}

/// Matches a scatter of whole slices at a list of indices.
fn scatter(g: &Graph, op: OpId, opset: Opset) -> Option<Found> {
    let own = g.view::<ScatterElements>(op)?;
    let spread = made::<BroadcastTo>(g, own.indices(g))?;
    let (column, whole) = (spread.input(g), shape(g, spread.result(g))?);
    let rank = whole.len() as i64;
    let axis = usize::try_from(own.axis(g).rem_euclid(rank)).ok()?;
    let extents = shape(g, column)?;
    let is_column = extents.len() == whole.len() - axis
        && extents.first() == whole.get(axis)
        && extents[1..].iter().all(|&extent| extent == 1);
    let data = shape(g, own.data(g))?;
    let alike = (0..whole.len()).all(|at| at == axis || data[at] == whole[at]);
    (is_column && alike && reaches(own.bounds(g))).then_some(())?;
    let list = match made::<Reshape>(g, column) {
        Some(reshape) if g.ty(reshape.input(g)).rank() == 1 => reshape.input(g),
        _ if extents.len() == 1 => column,
        _ => return None,
    };
    let (mode, updates) = joined(g, own.kind(g), own.updates(g));
    let mut found = Found::new(&SCATTER);
    found.operand("data", own.data(g));
    found.operand("indices", list);
    found.operand("updates", updates);
    found.give("axis", Given::Int(axis as i64));
    found.give("mode", Given::Word(mode));
    Some(unchecked(found, opset))
}

fn scatter_along_axis(g: &Graph, op: OpId, opset: Opset) -> Option<Found> {
    let own = g.view::<ScatterElements>(op)?;
    let updates = subtracted(g, own.kind(g), own.updates(g)).filter(|_| reaches(own.bounds(g)))?;
    let mut found = Found::new(&SCATTER_ALONG_AXIS);
    found.operand("data", own.data(g));
    found.operand("indices", own.indices(g));
    found.operand("updates", updates);
    found.give("axis", Given::Int(own.axis(g)));
    found.give("mode", Given::Word("sub"));
    Some(unchecked(found, opset))
}

fn scatter_nd(g: &Graph, op: OpId, opset: Opset) -> Option<Found> {
    let own = g.view::<ScatterNd>(op)?;
    let updates = subtracted(g, own.kind(g), own.updates(g)).filter(|_| reaches(own.bounds(g)))?;
    let mut found = Found::new(&SCATTER_ND);
    found.operand("data", own.data(g));
    found.operand("indices", own.indices(g));
    found.operand("updates", updates);
    found.give("mode", Given::Word("sub"));
    Some(unchecked(found, opset))
}

/// Matches a gather of slices with batched indices, as tuples of one index.
fn gather(g: &Graph, op: OpId, opset: Opset) -> Option<Found> {
    let own = g.view::<GatherNd>(op)?;
    let tuples = made::<Reshape>(g, own.indices(g))?;
    let (list, batch) = (shape(g, tuples.input(g))?, own.batch_dims(g));
    let is_one = shape(g, tuples.result(g))? == [&list[..], &[1]].concat();
    (is_one && batch > 0 && reaches(own.bounds(g)) && opset >= Opset::Ios16).then_some(())?;
    let mut found = Found::new(&GATHER);
    found.operand("x", own.data(g));
    found.operand("indices", tuples.input(g));
    found.give("axis", Given::Int(batch));
    found.give("batch_dims", Given::Int(batch));
    Some(unchecked(found, opset))
}

/// Matches an update of a slice, written as a select with a constant mask.
fn slice_update(g: &Graph, op: OpId) -> Option<Found> {
    let select = g.view::<Select>(op)?;
    let (x, pad) = (select.on_false(g), made::<PadOp>(g, select.on_true(g))?);
    let extents = shape(g, x)?;
    let counts = shape(g, pad.input(g))?;
    let margins = Margins::of(pad, g);
    let plain = margins.iter().all(|own| own.low >= 0 && own.high >= 0);
    let is_spread = pad.mode(g) == PadMode::Constant && shape(g, pad.result(g))? == extents;
    (plain && is_spread && !counts.contains(&0)).then_some(())?;
    let mask = constant(g, select.pred(g))?;
    let list: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
    (mask.shape() == list).then_some(())?;
    let mut index = vec![0usize; list.len()];
    for flag in integers(&mask) {
        let inside = index
            .iter()
            .zip(&margins)
            .zip(&counts)
            .all(|((&at, own), &count)| {
                let (behind, step) = (at as i64 - own.low, own.interior + 1);
                behind >= 0 && behind % step == 0 && behind / step < count
            });
        (inside == (flag != 0)).then_some(())?;
        advance(&mut index, &list);
    }
    let ends = margins.iter().zip(&counts);
    let ends = ends.map(|(own, count)| own.low + (count - 1) * (own.interior + 1) + 1);
    let mut found = Found::new(&SLICE_UPDATE);
    found.operand("x", x);
    found.operand("update", pad.input(g));
    found.give(
        "begin",
        Given::Ints(margins.iter().map(|own| own.low).collect()),
    );
    found.give("end", Given::Ints(ends.collect()));
    found.give(
        "stride",
        Given::Ints(margins.iter().map(|own| own.interior + 1).collect()),
    );
    Some(found)
}

/// Matches a one-hot encoding, with one value at the index, which may count from the end, and another value elsewhere.
fn one_hot(g: &Graph, op: OpId) -> Option<Found> {
    let select = g.view::<Select>(op)?;
    let is_place = made::<Compare>(g, select.pred(g))?;
    (is_place.direction(g) == Direction::Eq).then_some(())?;
    let pairs = [
        (is_place.lhs(g), is_place.rhs(g)),
        (is_place.rhs(g), is_place.lhs(g)),
    ];
    let (places, row) = pairs
        .into_iter()
        .find_map(|(places, row)| Some((places, made::<Iota>(g, row)?)))?;
    let result = shape(g, g.result(op))?;
    let (mut thin, extents) = (shape(g, places)?, shape(g, row.result(g))?);
    let axis = result.len().checked_sub(extents.len())?;
    let size = *extents.first()?;
    let is_row = row.axis(g) == 0 && extents[1..].iter().all(|&extent| extent == 1);
    (is_row && thin.len() == result.len() && thin[axis] == 1).then_some(())?;
    let own = match made::<Reshape>(g, places) {
        Some(reshape) => reshape.input(g),
        None => places,
    };
    let wrapped = made::<Select>(g, own)?;
    let indices = wrapped.on_false(g);
    let is_negative = made::<Compare>(g, wrapped.pred(g))?;
    let from_end = made::<Add>(g, wrapped.on_true(g))?;
    let counts_back = match is_negative.direction(g) {
        Direction::Lt => {
            is_negative.lhs(g) == indices && number(g, is_negative.rhs(g)) == Some(0.0)
        }
        Direction::Gt => {
            is_negative.rhs(g) == indices && number(g, is_negative.lhs(g)) == Some(0.0)
        }
        Direction::Eq | Direction::Ne | Direction::Le | Direction::Ge => false,
    };
    let adds = from_end.lhs(g) == indices && number(g, from_end.rhs(g)) == Some(size as f64);
    thin.remove(axis);
    let fits =
        counts_back && adds && shape(g, indices)? == thin && g.ty(indices).dtype == DType::I32;
    fits.then_some(())?;
    let [on, off] = [select.on_true(g), select.on_false(g)];
    (number(g, on).is_some() && number(g, off).is_some()).then_some(())?;
    let scalar = [on, off].iter().all(|&value| g.ty(value).rank() == 0);
    let mut found = Found::new(&ONE_HOT);
    scalar.then(|| found.operand("indices", indices))?;
    found.operand("on_value", on);
    found.operand("off_value", off);
    found.give("one_hot_vector_size", Given::Int(size));
    found.give("axis", Given::Int(axis as i64));
    Some(found)
}
