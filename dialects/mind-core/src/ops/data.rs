//! Ops with data-dependent numbers of results.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Element, Tensor};
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferManyResult, InferResult, VerifyError};
use mind_ir::{with_buffer, with_dtype};
use smallvec::smallvec;

use crate::axes::resolve;
use crate::eval::keys::{Key, keys};
use crate::eval::select::{Ranking, Selector};
use crate::extent::agree;

ops! {
    /// The indices of the nonzero elements, one column for each.
    ///
    /// NaN is not zero, -0 is.
    ///
    /// Shapes: `[rank of the input, ?]`; the result is `i64`.
    /// Order: columns in row-major order of the elements.
    /// Errors: none.
    /// Source: this compiler; ONNX `NonZero`, MIL `non_zero`.
    NonZero = "core.nonzero" {
        operands: (input: Any),
        traits: [Pure, Extended],
        names: { core: "NonZero", mic1: "nonzero" },
        infer: |op, g| {
            let rank = g.ty(op.input(g)).rank() as i64;
            Ok(TensorType::new(DType::I64, [Dim::Fixed(rank), Dim::Dynamic]).into())
        },
        eval: eval_nonzero,
    }

    /// The distinct elements, or with `flat` false the distinct slices along `axis`: each once, with the index of its
    /// first occurrence and its number of occurrences; and for each input element or slice the index of its distinct
    /// value.
    ///
    /// -0 equals +0, and the bits of the first occurrence are kept; all NaNs are equal.
    ///
    /// Shapes: `values` is a list, or as the input with `?` along `axis`; `first` and `counts` are `[?]`, and `inverse`
    /// has an element for each element or slice of the input; these three are `i64`.
    /// Order: that of `Sort`, slices compared element by element in row-major order; with `sorted` false the order of
    /// first occurrences.
    /// Errors: E3004 axis out of range, unless `flat`.
    /// Source: this compiler; ONNX `Unique`.
    Unique = "core.unique" {
        operands: (input: Any),
        attrs: { flat "flat": Bool = true, axis "ax": Int = 0, sorted "sorted": Bool = true },
        results: [values, first, inverse, counts],
        traits: [Pure, Extended],
        names: { core: "Unique", mic1: "unique" },
        infer_many: infer_unique,
        eval_many: eval_unique,
    }

    /// The boxes that remain after boxes that overlap a better one are dropped, as triples of batch, class and box.
    ///
    /// A box is `[y1, x1, y2, x2]`, its corners in any order, or with `centre` `[x, y, width, height]`. For each batch
    /// and class at most `max` boxes are kept: a box is kept if its score is above `score`, and if its intersection
    /// with each box kept before is at most `iou` of their union. A box without area overlaps nothing.
    ///
    /// Shapes: `boxes` `[B, N, 4]`, `scores` `[B, C, N]`, the others `[]`; the result is `i64` `[?, 3]`.
    /// Order: by batch, then class, then falling score; the lower index of equal scores first. Areas and their quotient
    /// are computed in `f32`.
    /// Errors: E2005 a dtype other than `f32`, E3002 other ranks, E3003 extents that differ.
    /// Source: this compiler; ONNX `NonMaxSuppression`, MIL `non_maximum_suppression`.
    NonMaxSuppression = "core.non_max_suppression" {
        operands: (boxes: F32, scores: F32, max: Index, iou: F32, score: F32),
        attrs: { centre "c": Bool = false },
        traits: [Pure, Extended],
        names: { core: "NonMaxSuppression", mic1: "non_max_suppression" },
        infer: infer_suppression,
        eval: eval_suppression,
    }
}

fn eval_nonzero(_: NonZero, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    fn offsets<T: Element>(input: &Tensor) -> Vec<usize> {
        let elements = input.elements::<T>().iter().enumerate();
        let nonzero = elements.filter(|(_, element)| **element != T::ZERO);
        nonzero.map(|(at, _)| at).collect()
    }
    let input = operands[0];
    cx.count(DType::I64, &[input.count()])?;
    let offsets = mind_ir::with_dtype!(input.dtype(), T => offsets::<T>(input));
    let shape = [input.rank(), offsets.len()];
    let mut indices = vec![0i64; cx.count(DType::I64, &shape)?];
    let mut below = 1;
    for axis in (0..input.rank()).rev() {
        let extent = input.shape()[axis];
        for (column, offset) in offsets.iter().enumerate() {
            indices[axis * offsets.len() + column] = (offset / below % extent) as i64;
        }
        below *= extent;
    }
    Ok(Tensor::of(shape.to_vec(), indices))
}

fn infer_unique(op: Unique, g: &Graph) -> InferManyResult {
    let input = g.ty(op.input(g));
    let mut shape: Shape = input.shape.iter().copied().collect();
    let inverse = if op.flat(g) {
        shape = [Dim::Dynamic].into_iter().collect();
        input.count().map_or(Dim::Dynamic, Dim::Fixed)
    } else {
        let axis = resolve("unique", op.axis(g), input.rank())?;
        std::mem::replace(&mut shape[axis], Dim::Dynamic)
    };
    let list = |dim| TensorType::new(DType::I64, [dim]);
    let values = TensorType::new(input.dtype, shape);
    let (first, counts) = (list(Dim::Dynamic), list(Dim::Dynamic));
    Ok(smallvec![
        values.into(),
        first.into(),
        list(inverse).into(),
        counts.into()
    ])
}

fn eval_unique(op: Unique, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (g, input) = (cx.graph, operands[0]);
    let slices = if op.flat(g) {
        Slices {
            outer: 1,
            count: input.count(),
            inner: 1,
        }
    } else {
        let axis = resolve("unique", op.axis(g), input.rank()).expect("a verified axis");
        let count = |range: &[usize]| range.iter().product();
        Slices {
            outer: count(&input.shape()[..axis]),
            count: input.shape()[axis],
            inner: count(&input.shape()[axis + 1..]),
        }
    };
    // The results are largest if no two slices are equal.
    cx.count(input.dtype(), input.shape())?;
    cx.count(DType::I64, &[slices.count])?;
    let found = slices.groups(input, op.sorted(g));
    let groups = found.members.len();
    let mut shape = input.shape().to_vec();
    if op.flat(g) {
        shape = vec![groups];
    } else {
        let axis = resolve("unique", op.axis(g), input.rank()).expect("a verified axis");
        shape[axis] = groups;
    }
    let of_each = |of: fn(&[usize]) -> usize| {
        let numbers = found.members.iter().map(|group| of(group) as i64);
        Tensor::of(vec![groups], numbers.collect())
    };
    let values = slices.firsts(input, &found, shape);
    let (first, counts) = (of_each(|group| group[0]), of_each(<[usize]>::len));
    let inverse = Tensor::of(vec![slices.count], found.inverse);
    Ok(smallvec![values, first, inverse, counts])
}

/// A tensor, viewed as slices along an axis.
#[derive(Clone, Copy)]
struct Slices {
    /// The product of the extents before the axis.
    outer: usize,
    /// The extent of the axis.
    count: usize,
    /// The product of the extents after the axis.
    inner: usize,
}

/// The slices, grouped by equality.
struct Groups {
    /// The indices of the slices of each group in ascending order; the groups are in the order of the results.
    members: Vec<Vec<usize>>,
    /// The group of each slice.
    inverse: Vec<i64>,
}

impl Slices {
    fn groups(self, input: &Tensor, sorted: bool) -> Groups {
        let Slices {
            outer,
            count,
            inner,
        } = self;
        let keys = keys(input);
        let slice = |at: usize| {
            let runs = (0..outer).map(move |run| (run * count + at) * inner);
            let keys = &keys;
            runs.flat_map(move |start| &keys[start..start + inner])
        };
        let order = if outer == 1 && inner == 1 {
            let ranking = Ranking {
                kept: count,
                descending: false,
            };
            let mut selector = Selector::new(ranking);
            with_dtype!(input.dtype(), T => selector.select(input.elements::<T>()).to_vec())
        } else {
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by(|&a, &b| slice(a).cmp(slice(b)));
            order
        };
        let groups = order.chunk_by(|&a, &b| slice(a).eq(slice(b)));
        let mut members: Vec<Vec<usize>> = groups.map(<[usize]>::to_vec).collect();
        if !sorted {
            members.sort_unstable_by_key(|group| group[0]);
        }
        let mut inverse = vec![0i64; count];
        for (number, group) in members.iter().enumerate() {
            group.iter().for_each(|&at| inverse[at] = number as i64);
        }
        Groups { members, inverse }
    }

    /// Returns the first slice of each group as a tensor of `shape`.
    fn firsts(self, input: &Tensor, groups: &Groups, shape: Vec<usize>) -> Tensor {
        with_buffer!(input.buffer(), |elements| {
            let mut values = Vec::with_capacity(self.outer * groups.members.len() * self.inner);
            for run in 0..self.outer {
                for group in &groups.members {
                    let start = (run * self.count + group[0]) * self.inner;
                    values.extend_from_slice(&elements[start..start + self.inner]);
                }
            }
            Tensor::of(shape, values)
        })
    }
}

fn infer_suppression(op: NonMaxSuppression, g: &Graph) -> InferResult {
    let name = "non_max_suppression";
    let operands = [
        ("boxes", op.boxes(g), 3),
        ("scores", op.scores(g), 3),
        ("max", op.max(g), 0),
        ("iou", op.iou(g), 0),
        ("score", op.score(g), 0),
    ];
    for (operand, value, rank) in operands {
        let found = g.ty(value).rank();
        if found != rank {
            let expected = rank.to_string();
            return Err(Box::new(VerifyError::Rank {
                op: name,
                operand,
                expected,
                found,
            }));
        }
    }
    let (boxes, scores) = (g.ty(op.boxes(g)).shape, g.ty(op.scores(g)).shape);
    let pairs = [
        ("the number of batches", boxes[0], scores[0]),
        ("the number of boxes", boxes[1], scores[2]),
        ("the numbers of a box", Dim::Fixed(4), boxes[2]),
    ];
    for (dimension, expected, found) in pairs {
        let help = "boxes are `[B, N, 4]` and scores `[B, C, N]`";
        agree(g, name, dimension, expected, found, help)?;
    }
    Ok(TensorType::new(DType::I64, [Dim::Dynamic, Dim::Fixed(3)]).into())
}

fn eval_suppression(
    op: NonMaxSuppression,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let [boxes, scores, max, iou, score] = operands else {
        unreachable!("a verified op has five operands")
    };
    let (&[batches, count, numbers], &[others, classes, scored]) = (boxes.shape(), scores.shape())
    else {
        unreachable!("verified ranks")
    };
    if (batches, count, numbers) != (others, scored, 4) {
        let (boxes, scores) = (boxes.shape(), scores.shape());
        let text = format!("boxes of {boxes:?} and scores of {scores:?} do not fit");
        return Err(EvalError::Shape(text));
    }
    let max = match max.dtype() {
        DType::I32 => i64::from(max.elements::<i32>()[0]),
        _ => max.elements::<i64>()[0],
    };
    let max = usize::try_from(max).unwrap_or(0).min(count);
    let (iou, least) = (iou.elements::<f32>()[0], score.elements::<f32>()[0]);
    // The largest possible result, checked before it is allocated.
    cx.count(DType::I64, &[batches, classes, max, 3])?;
    cx.count(DType::I64, &[count])?;
    let corners = |at: usize| {
        let numbers = &boxes.elements::<f32>()[4 * at..4 * at + 4];
        Rectangle::of(
            [numbers[0], numbers[1], numbers[2], numbers[3]],
            op.centre(cx.graph),
        )
    };
    let mut kept: Vec<i64> = Vec::new();
    for batch in 0..batches {
        let rectangles: Vec<Rectangle> = (0..count).map(|at| corners(batch * count + at)).collect();
        for class in 0..classes {
            let start = (batch * classes + class) * count;
            let scores = &scores.elements::<f32>()[start..start + count];
            for at in suppressed(&rectangles, scores, max, iou, least) {
                kept.extend([batch as i64, class as i64, at as i64]);
            }
        }
    }
    Ok(Tensor::of(vec![kept.len() / 3, 3], kept))
}

/// Returns the indices of the rectangles that are kept, the best first.
fn suppressed(all: &[Rectangle], scores: &[f32], max: usize, iou: f32, least: f32) -> Vec<usize> {
    let mut candidates: Vec<usize> = (0..all.len()).filter(|&at| scores[at] > least).collect();
    candidates.sort_by_key(|&at| std::cmp::Reverse(scores[at].key()));
    let mut kept: Vec<usize> = Vec::new();
    for at in candidates {
        if kept.len() == max {
            break;
        }
        let overlaps = |&other: &usize| all[at].overlap(&all[other]) > iou;
        if !kept.iter().any(overlaps) {
            kept.push(at);
        }
    }
    kept
}

/// A box, by its lower and its upper corner.
#[derive(Clone, Copy)]
struct Rectangle {
    low: [f32; 2],
    high: [f32; 2],
}

impl Rectangle {
    fn of([a, b, c, d]: [f32; 4], centre: bool) -> Rectangle {
        if centre {
            let (half_width, half_height) = (c / 2.0, d / 2.0);
            return Rectangle {
                low: [b - half_height, a - half_width],
                high: [b + half_height, a + half_width],
            };
        }
        Rectangle {
            low: [a.min(c), b.min(d)],
            high: [a.max(c), b.max(d)],
        }
    }

    fn area(&self) -> f32 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }

    /// Returns the intersection over union of two rectangles.
    fn overlap(&self, other: &Rectangle) -> f32 {
        let (own, others) = (self.area(), other.area());
        if own <= 0.0 || others <= 0.0 {
            return 0.0;
        }
        let side = |axis: usize| {
            let low = self.low[axis].max(other.low[axis]);
            (self.high[axis].min(other.high[axis]) - low).max(0.0)
        };
        let both = side(0) * side(1);
        both / (own + others - both)
    }
}
