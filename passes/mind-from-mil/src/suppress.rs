//! Imports non-maximum suppression.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::data::NonMaxSuppression;
use mind_core::ops::gather::GatherNd;
use mind_core::ops::index::Slice;
use mind_core::ops::reduce::{Max, Sum};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;

use crate::emit::{Emit, Many, One};

/// Imports suppression: boxes, their scores and indices, and in the first definition their number. Missing boxes are
/// -1.
pub(crate) fn suppression(op: OpId, e: &mut Emit<'_>) -> Many {
    let (mut boxes, mut scores) = (e.argument(op, "boxes")?, e.argument(op, "scores")?);
    let is_column = e.call(op)?.opset >= Opset::Ios17;
    if is_column {
        boxes = e.transpose(boxes, &[0, 2, 1])?;
        scores = e.transpose(scores, &[0, 2, 1])?;
    }
    let (&[batch, _, classes], 3) = (&e.shape(scores)?[..], e.rank(boxes)) else {
        return Err(Refusal::rank("scores", e.g().type_text(scores), 3));
    };
    if e.call(op)?.flag("per_class_suppression") && classes > 1 {
        return Err(Refusal::no_counterpart(
            "core keeps as many boxes of each class, and MIL of all classes",
        ));
    }
    let most = e.call(op)?.int("max_boxes").filter(|&most| most > 0);
    let most = most.ok_or_else(|| Refusal::missing("max_boxes"))?;
    let mut found = Vec::new();
    for at in 0..batch {
        let own = [boxes, scores].map(|value| e.part(value, 0, at, at + 1));
        let [boxes, scores] = own;
        found.push(kept(op, e, [boxes?, scores?], most)?);
    }
    let indices = e.concat(&found, 0)?;
    let zero = e.tensor(&Tensor::scalar(0i64));
    let is_kept = Compare::with(Direction::Ge).build(&mut e.b, indices, zero)?;
    let places = e.max(indices, zero)?;
    let places = e.reshape_to(places, &[batch, most, 1])?;
    let rows = e.reshape_to(is_kept, &[batch, most, 1])?;
    let mut results = Vec::new();
    for value in [boxes, scores] {
        let own = GatherNd::with()
            .batch_dims(1)
            .build(&mut e.b, value, places)?;
        let none = e.number(e.dtype(value), -1.0);
        let own = Select::build(&mut e.b, rows, own, none)?;
        results.push(if is_column {
            e.transpose(own, &[0, 2, 1])?
        } else {
            own
        });
    }
    results.push(e.convert(indices, DType::I32)?);
    if !is_column {
        let ones = e.convert(is_kept, DType::I32)?;
        results.push(Sum::with().axes(&[1]).build(&mut e.b, ones)?);
    }
    Ok(results)
}

/// Returns the indices `[1, most]` of the kept boxes of one batch.
fn kept(op: OpId, e: &mut Emit<'_>, [boxes, scores]: [ValueId; 2], most: i64) -> One {
    let call = e.call(op)?;
    let overlap = call.float("iou_threshold").unwrap_or(0.0) as f32;
    // MIL keeps scores equal to the threshold, but core only those above it.
    let least = call
        .float("score_threshold")
        .map_or(f32::NEG_INFINITY, |own| (own as f32).next_down());
    let best = Max::with().axes(&[2]).build(&mut e.b, scores)?;
    let best = e.convert(best, DType::F32)?;
    let rows = e.shape(best)?[1];
    let best = e.reshape_to(best, &[1, 1, rows])?;
    let boxes = e.convert(boxes, DType::F32)?;
    let limit = e.tensor(&Tensor::scalar(most));
    let [overlap, least] = [overlap, least].map(|own| e.tensor(&Tensor::scalar(own)));
    let triples = NonMaxSuppression::with().centre(true);
    let triples = triples.build(&mut e.b, boxes, best, limit, overlap, least)?;
    let none = e.splat(&Tensor::scalar(-1i64), &[most, 3]);
    let padded = e.concat(&[triples, none], 0)?;
    let column = Slice::with(&[0, 2], &[most, 3], &[1; 2]).build(&mut e.b, padded)?;
    e.reshape_to(column, &[1, most])
}
