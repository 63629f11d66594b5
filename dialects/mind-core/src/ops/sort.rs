//! Elements in order.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::with_buffer;
use smallvec::smallvec;

use crate::axes::resolve;
use crate::eval::keys::{Ranking, Row, keys};

ops! {
    /// The elements along `axis` in ascending order, or descending, and the index that each had.
    ///
    /// -0 equals +0, all NaNs are equal and above everything, `false` is below `true`.
    ///
    /// Shapes: both results as the input; `places` is `i64`.
    /// Order: stable, also when descending.
    /// Errors: E3004 axis out of range.
    /// Source: this compiler; MIL `argsort`, StableHLO `sort`.
    Sort = "core.sort" {
        operands: (input: Any),
        attrs: { axis "ax": Int = -1, descending "desc": Bool = false },
        results: [values, places],
        traits: [Pure, Extended],
        names: { core: "Sort", mic1: "sort" },
        infer_many: infer_sort,
        eval_many: eval_sort,
    }

    /// The `k` largest elements along `axis`, or the smallest, and the index of each.
    ///
    /// Shapes: both results as the input, the extent along `axis` being `k`; `places` is `i64`.
    /// Order: the first `k` of `Sort`, in its order.
    /// Errors: E3003 fewer elements than `k`, E3004 axis out of range, E3006 `k` negative.
    /// Source: this compiler; ONNX `TopK`, MIL `topk`.
    TopK = "core.top_k" {
        operands: (input: Any),
        attrs: { k "k": Int, axis "ax": Int = -1, largest "largest": Bool = true },
        results: [values, places],
        traits: [Pure, Extended],
        names: { core: "TopK", mic1: "top_k" },
        infer_many: infer_top_k,
        eval_many: eval_top_k,
    }
}

fn infer_sort(op: Sort, g: &Graph) -> InferManyResult {
    let input = g.ty(op.input(g));
    resolve("sort", op.axis(g), input.rank())?;
    let values = input.to_owned();
    let places = TensorType::new(DType::I64, values.shape.clone());
    Ok(smallvec![values.into(), places.into()])
}

fn infer_top_k(op: TopK, g: &Graph) -> InferManyResult {
    let (input, k) = (g.ty(op.input(g)), op.k(g));
    let axis = resolve("top_k", op.axis(g), input.rank())?;
    let mut shape: Shape = input.shape.iter().copied().collect();
    let found = std::mem::replace(&mut shape[axis], Dim::Fixed(k));
    if k < 0 {
        return Err(Box::new(VerifyError::NegativeExtent {
            shape: format!("[{k}]"),
            dimension: 0,
            value: k,
        }));
    }
    if found.fixed().is_some_and(|extent| extent < k) {
        return Err(Box::new(VerifyError::Extent {
            op: "top_k",
            dimension: format!("dimension {axis}"),
            expected: format!("{k} or more"),
            found: found.display(g.symbols()).to_string(),
            help: "`k` is at most the number of elements along the axis",
        }));
    }
    let values = TensorType::new(input.dtype, shape.clone());
    let places = TensorType::new(DType::I64, shape);
    Ok(smallvec![values.into(), places.into()])
}

fn eval_sort(op: Sort, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (g, input) = (cx.graph, operands[0]);
    let axis = resolve("sort", op.axis(g), input.rank()).expect("a verified axis");
    let ranking = Ranking {
        kept: input.shape()[axis],
        descending: op.descending(g),
    };
    sorted(cx, input, axis, ranking)
}

fn eval_top_k(op: TopK, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (g, input) = (cx.graph, operands[0]);
    let axis = resolve("top_k", op.axis(g), input.rank()).expect("a verified axis");
    let (k, extent) = (op.k(g) as usize, input.shape()[axis]);
    if k > extent {
        let text = format!("dimension {axis} has {extent} elements, fewer than `k`, which is {k}");
        return Err(EvalError::Shape(text));
    }
    let ranking = Ranking {
        kept: k,
        descending: op.largest(g),
    };
    sorted(cx, input, axis, ranking)
}

/// The elements along `axis` that come first, and the index of each.
fn sorted(cx: &EvalCx<'_>, input: &Tensor, axis: usize, ranking: Ranking) -> EvalManyResult {
    let (extent, kept) = (input.shape()[axis], ranking.kept);
    let inner: usize = input.shape()[axis + 1..].iter().product();
    let mut shape = input.shape().to_vec();
    shape[axis] = kept;
    cx.count(input.dtype(), &shape)?;
    let count = cx.count(DType::I64, &shape)?;
    // Where each element comes from: its index along the axis, and its place in the input.
    let (mut places, mut sources) = (vec![0i64; count], vec![0usize; count]);
    for number in 0..count.checked_div(kept).unwrap_or(0) {
        let (outer, column) = (number / inner, number % inner);
        let start = outer * extent * inner + column;
        let row = Row {
            start,
            step: inner,
            count: extent,
        };
        let found = ranking.places(input.dtype(), &keys(input, row));
        for (at, place) in found.into_iter().enumerate() {
            let to = (outer * kept + at) * inner + column;
            places[to] = place as i64;
            sources[to] = start + place * inner;
        }
    }
    let values = with_buffer!(input.buffer(), |elements| {
        Tensor::of(
            shape.clone(),
            sources.iter().map(|&at| elements[at]).collect(),
        )
    });
    Ok(smallvec![values, Tensor::of(shape, places)])
}
