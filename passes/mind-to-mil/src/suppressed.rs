//! Finds the results of MIL's `non_maximum_suppression` in the core ops that compute them from its triples.

use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::convert::Cast;
use mind_core::ops::data::NonMaxSuppression;
use mind_core::ops::elementwise::Maximum;
use mind_core::ops::gather::GatherNd;
use mind_core::ops::index::Slice;
use mind_core::ops::join::Concat;
use mind_core::ops::reduce::{Max, Sum};
use mind_core::ops::shape::{Reshape, Transpose};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, TensorType};
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::call::{floats, integers};
use mind_mil::ops::tensor::NON_MAXIMUM_SUPPRESSION;

use crate::compose::{constant, number};
use crate::config::Config;
use crate::found::{Found, Given, Placed};
use crate::shapes::{made, shape};
use crate::suppress::above;

/// Returns the suppression of one list of boxes with its results padded by -1.
pub(crate) fn found(g: &Graph, op: OpId, config: &Config) -> Option<Placed> {
    let own = g.view::<NonMaxSuppression>(op)?;
    own.centre(g).then_some(())?;
    let indices = padded(g, own)?;
    let most = shape(g, indices)?[1];
    (integers(&constant(g, own.max(g))?) == [most]).then_some(())?;
    let is_column = config.opset >= Opset::Ios17;
    let overlap = number(g, own.iou(g))?;
    let least = number(g, own.score(g))?;
    (!is_column || least == f64::NEG_INFINITY).then_some(())?;
    let rows = [uncast(g, own.boxes(g)), scores(g, own.scores(g))?];
    let operands = match is_column {
        true => [flipped(g, rows[0])?, flipped(g, rows[1])?],
        false => rows,
    };
    let dtype = g.ty(rows[0]).dtype;
    (g.ty(rows[1]).dtype == dtype).then_some(())?;
    let float = match dtype {
        DType::F32 => config.float,
        dtype => dtype,
    };
    let mut found = Found::new(&NON_MAXIMUM_SUPPRESSION);
    found.operand("boxes", operands[0]);
    found.operand("scores", operands[1]);
    found.give("iou_threshold", Given::Number(overlap));
    found.give("max_boxes", Given::Int(most));
    found.give("per_class_suppression", Given::Flag(false));
    if !is_column {
        found.give("score_threshold", Given::Number(above(least, float)));
    }
    let mut replaced = vec![(indices, 2)];
    let is_kept = comparisons(g, indices);
    for (at, &data) in rows.iter().enumerate() {
        let results = is_kept
            .iter()
            .flat_map(|&own| chosen(g, indices, own, data));
        for result in results {
            match is_column {
                true => replaced.extend(transposed(g, result).map(|own| (own, at))),
                false => replaced.push((result, at)),
            }
        }
    }
    let mut types: Vec<TensorType> = Vec::new();
    for operand in operands {
        let mut extents = shape(g, operand)?;
        extents[if is_column { 2 } else { 1 }] = most;
        types.push(TensorType::fixed(dtype, &extents));
    }
    types.push(TensorType::fixed(DType::I64, &[1, most]));
    if !is_column {
        types.push(TensorType::fixed(DType::I32, &[1]));
        let counts = is_kept.iter().flat_map(|&own| counts(g, own));
        replaced.extend(counts.map(|count| (count, 3)));
    }
    Some(Placed {
        found,
        anchor: op,
        types,
        replaced,
    })
}

/// Returns the value before a cast to f32.
fn uncast(g: &Graph, value: ValueId) -> ValueId {
    made::<Cast>(g, value).map_or(value, |cast| cast.input(g))
}

/// Returns the single user of a value, if it is a `T`.
fn reader<T: Op>(g: &Graph, value: ValueId) -> Option<T> {
    let mut uses = g.uses(value);
    let (user, _) = uses.next()?;
    uses.next().is_none().then_some(())?;
    g.view::<T>(user)
}

/// Returns all users of a value that are a `T`.
fn readers<T: Op>(g: &Graph, value: ValueId) -> Vec<T> {
    g.uses(value)
        .filter_map(|(user, _)| g.view::<T>(user))
        .collect()
}

/// Returns the indices of all kept boxes, padded with -1: `[1, most]`.
fn padded(g: &Graph, own: NonMaxSuppression) -> Option<ValueId> {
    let joined = reader::<Concat>(g, own.result(g))?;
    let &[_, none] = joined.inputs(g) else {
        return None;
    };
    let [rows, 3] = shape(g, none)?[..] else {
        return None;
    };
    let is_none = floats(&constant(g, none)?).iter().all(|&own| own == -1.0);
    let column = reader::<Slice>(g, joined.result(g))?;
    let is_column = column.starts(g) == [0, 2] && column.ends(g) == [rows, 3];
    let indices = reader::<Reshape>(g, column.result(g))?.result(g);
    let fits = is_none && is_column && shape(g, indices)? == [1, rows];
    fits.then_some(indices)
}

/// Returns the scores `[1, N, K]` whose maximum over the classes is used as the scores of a single class.
fn scores(g: &Graph, value: ValueId) -> Option<ValueId> {
    let [1, 1, _] = shape(g, value)?[..] else {
        return None;
    };
    let best = made::<Reshape>(g, value)?.input(g);
    let best = made::<Max>(g, uncast(g, best))?;
    let is_last = best.axes(g) == [2] && !best.keepdims(g);
    is_last.then_some(best.input(g))
}

/// Returns the operand of the transpose that made a value.
fn flipped(g: &Graph, value: ValueId) -> Option<ValueId> {
    let own = made::<Transpose>(g, value)?;
    (own.permutation(g) == [0, 2, 1]).then_some(own.input(g))
}

/// Returns the transpose that is the single user of a value.
fn transposed(g: &Graph, value: ValueId) -> Option<ValueId> {
    let own = reader::<Transpose>(g, value)?;
    (own.permutation(g) == [0, 2, 1]).then_some(own.result(g))
}

/// Returns the masks of valid indices.
fn comparisons(g: &Graph, indices: ValueId) -> Vec<ValueId> {
    let all = readers::<Compare>(g, indices).into_iter();
    let own = all.filter(|own| {
        let is_first = own.lhs(g) == indices && number(g, own.rhs(g)) == Some(0.0);
        is_first && own.direction(g) == Direction::Ge
    });
    own.map(|own| own.result(g)).collect()
}

/// Returns the rows of `data` at the indices, with -1 for invalid ones.
fn chosen(g: &Graph, indices: ValueId, is_kept: ValueId, data: ValueId) -> Vec<ValueId> {
    let columns = readers::<Reshape>(g, is_kept).into_iter();
    let choices = columns.flat_map(|own| readers::<Select>(g, own.result(g)));
    let reads = |own: &Select| {
        let rows = made::<GatherNd>(g, own.on_true(g))?;
        let places = made::<Maximum>(g, made::<Reshape>(g, rows.indices(g))?.input(g))?;
        let from_zero = places.lhs(g) == indices && number(g, places.rhs(g)) == Some(0.0);
        let is_none = number(g, own.on_false(g)) == Some(-1.0);
        (rows.data(g) == data && from_zero && is_none).then_some(())
    };
    let own = choices.filter(|own| reads(own).is_some());
    own.map(|own| own.result(g)).collect()
}

/// Returns the sums of a mask of valid indices, which are the numbers of kept boxes.
fn counts(g: &Graph, is_kept: ValueId) -> Vec<ValueId> {
    let casts = readers::<Cast>(g, is_kept).into_iter();
    let sums = casts.flat_map(|own| readers::<Sum>(g, own.result(g)));
    let all = sums.filter(|own| own.axes(g) == [1] && !own.keepdims(g));
    all.map(|own| own.result(g)).collect()
}
