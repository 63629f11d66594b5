//! Lowers non-maximum suppression.

use half::f16;
use mind_convert::Refusal;
use mind_core::ops::data::NonMaxSuppression;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, TensorType};
use mind_ir::{Ty, ValueId};
use mind_mil::Opset;
use mind_mil::call::integers;
use mind_mil::ops::binary::{ADD, GREATER, GREATER_EQUAL, LOGICAL_AND, MUL, SUB};
use mind_mil::ops::index::GATHER;
use mind_mil::ops::movement::{SLICE_BY_INDEX, SQUEEZE};
use mind_mil::ops::tensor::{NON_MAXIMUM_SUPPRESSION, NON_ZERO};
use mind_mil::ops::unary::ABS;

use crate::broadcast::to_shape;
use crate::elementwise::pair;
use crate::emit::Argument::{Flag, Int, Ints, Number, Value};
use crate::emit::{Emit, Lower, Lowered};
use crate::movement::concat;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[(NonMaxSuppression::DEF, |op, e| {
    let view = NonMaxSuppression::from_id(op);
    let scores = view.scores(e.g());
    let &[batches, classes, count] = &e.shape(scores)?[..] else {
        return Err(Refusal::no_counterpart("scores are of rank 3"));
    };
    if batches * classes * count == 0 {
        return Err(Refusal::no_counterpart("an extent of 0 has no counterpart"));
    }
    let max = e.elements(view.max(e.g()));
    let max = max.and_then(|max| integers(&max).first().copied());
    let most = match max {
        Some(max @ 1..) => max.min(count),
        Some(_) => return Err(Refusal::no_counterpart("it keeps no box")),
        None => return Err(constant_only("max")),
    };
    let overlap = e.uniform(view.iou(e.g()));
    let calls = Calls {
        lists: batches * classes,
        count,
        most,
        overlap: overlap.ok_or_else(|| constant_only("iou"))?,
        least: view.score(e.g()),
    };
    let boxes = match view.centre(e.g()) {
        true => view.boxes(e.g()),
        false => centred(e, view.boxes(e.g()))?,
    };
    let boxes = match classes {
        1 => boxes,
        _ => {
            let each = [batches, classes, count, 4];
            let spread = to_shape(e, boxes, &[0, 2, 3], &each)?;
            e.reshape(spread, &[calls.lists, count, 4])?
        }
    };
    let (indices, is_kept) = calls.emit(e, boxes, scores)?;
    let numbers = (0..calls.lists).flat_map(|list| {
        let pair = [list / classes, list % classes].map(|number| number as i32);
        std::iter::repeat_n(pair, most as usize).flatten()
    });
    let rows = calls.lists * most;
    let numbers = Tensor::of(vec![rows as usize, 2], numbers.collect());
    let numbers = e.constant(&numbers);
    let column = e.reshape(indices, &[rows, 1])?;
    let triples = concat(e, &[numbers, column], 1)?;
    let is_kept = e.reshape(is_kept, &[rows])?;
    let places = e.op(&NON_ZERO, &[("x", Value(is_kept))])?;
    let places = e.op(&SQUEEZE, &[("x", Value(places)), ("axes", Ints(&[1]))])?;
    let mut args = vec![
        ("x", Value(triples)),
        ("indices", Value(places)),
        ("axis", Int(0)),
    ];
    if e.config.opset >= Opset::Ios16 {
        args.push(("batch_dims", Int(0)));
    }
    if e.config.opset >= Opset::Ios17 {
        args.push(("validate_indices", Flag(false)));
    }
    e.op(&GATHER, &args)
})];

fn constant_only(name: &str) -> Refusal {
    Refusal::no_counterpart(format!(
        "`non_maximum_suppression` takes `{name}` as a constant alone"
    ))
}

/// Converts boxes from corners to centre and size. The order of the two axes does not change overlaps.
fn centred(e: &mut Emit<'_, '_>, boxes: ValueId) -> Lowered {
    let shape = e.shape(boxes)?;
    let mut corner = |first: i64| {
        let ends = [shape[0], shape[1], first + 2];
        let args = [
            ("x", Value(boxes)),
            ("begin", Ints(&[0, 0, first])),
            ("end", Ints(&ends)),
        ];
        e.op(&SLICE_BY_INDEX, &args)
    };
    let (low, high) = (corner(0)?, corner(2)?);
    let sum = pair(e, &ADD, low, high)?;
    let half = [("x", Value(sum)), ("y", Number(0.5, e.dtype(boxes)))];
    let centre = e.op(&MUL, &half)?;
    let size = pair(e, &SUB, high, low)?;
    let size = e.op(&ABS, &[("x", Value(size))])?;
    concat(e, &[centre, size], 2)
}

/// Suppression of several lists of boxes, each with one list of scores.
struct Calls {
    lists: i64,
    /// The number of boxes in a list.
    count: i64,
    /// Maximum number of boxes kept of a list.
    most: i64,
    overlap: f64,
    /// The score that kept boxes must exceed.
    least: ValueId,
}

impl Calls {
    /// Returns the indices of the kept boxes, and a mask of the valid ones, both `[lists, most]`.
    fn emit(
        &self,
        e: &mut Emit<'_, '_>,
        boxes: ValueId,
        scores: ValueId,
    ) -> Result<(ValueId, ValueId), Refusal> {
        let &Calls {
            lists, count, most, ..
        } = self;
        let dtype = e.dtype(scores);
        // From ios17 on, boxes are the last dimension and the score threshold is not used.
        let is_column = e.config.opset >= Opset::Ios17;
        let boxes = match is_column {
            true => e.transpose(boxes, &[0, 2, 1])?,
            false => boxes,
        };
        let scored = match is_column {
            true => [lists, 1, count],
            false => [lists, count, 1],
        };
        let scores = e.reshape(scores, &scored)?;
        let mut args = vec![
            ("boxes", Value(boxes)),
            ("scores", Value(scores)),
            ("iou_threshold", Number(self.overlap, dtype)),
            ("max_boxes", Int(most)),
            ("per_class_suppression", Flag(false)),
        ];
        let least = e.uniform(self.least).filter(|_| !is_column);
        if !is_column {
            let lowest = least.map_or(f64::NEG_INFINITY, |least| above(least, dtype));
            args.push(("score_threshold", Number(lowest, dtype)));
        }
        let shapes: &[(DType, &[i64])] = match is_column {
            true => &[
                (dtype, &[lists, 4, most]),
                (dtype, &[lists, 1, most]),
                (DType::I32, &[lists, most]),
            ],
            false => &[
                (dtype, &[lists, most, 4]),
                (dtype, &[lists, most, 1]),
                (DType::I32, &[lists, most]),
                (DType::I32, &[lists]),
            ],
        };
        let types = shapes.iter().map(|&(dtype, shape)| {
            let ty = TensorType::fixed(dtype, shape);
            e.b.graph.intern_type(ty.view())
        });
        let types: Vec<Ty> = types.collect();
        let results = e.typed(&NON_MAXIMUM_SUPPRESSION, &args, &types)?;
        let (scores, indices) = (results[1], results[2]);
        let none = [("x", Value(indices)), ("y", Int(0))];
        let mut is_kept = e.op(&GREATER_EQUAL, &none)?;
        if least.is_none() {
            // Boxes with lower scores come after all kept ones and therefore suppress none of them.
            let scores = e.reshape(scores, &[lists, most])?;
            let scores_enough = pair(e, &GREATER, scores, self.least)?;
            is_kept = pair(e, &LOGICAL_AND, is_kept, scores_enough)?;
        }
        Ok((indices, is_kept))
    }
}

/// Returns the least number of `dtype` above `number`.
pub(crate) fn above(number: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F32 => {
            let near = number as f32;
            let next = if f64::from(near) > number {
                near
            } else {
                near.next_up()
            };
            f64::from(next)
        }
        _ => {
            let near = f16::from_f64(number);
            let bits = near.to_bits();
            let next = if near.to_f64() > number || near == f16::INFINITY {
                near
            } else if near == f16::ZERO {
                f16::MIN_POSITIVE_SUBNORMAL
            } else if near.is_sign_negative() {
                f16::from_bits(bits - 1)
            } else {
                f16::from_bits(bits + 1)
            };
            next.to_f64()
        }
    }
}
