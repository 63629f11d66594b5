//! Elements in order.

use std::cmp::Ordering;

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::with_num;
use smallvec::smallvec;

use crate::axes::resolve;

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
    let sorting = Sorting {
        axis,
        kept: input.shape()[axis],
        descending: op.descending(g),
    };
    sorting.run(cx, input)
}

fn eval_top_k(op: TopK, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (g, input) = (cx.graph, operands[0]);
    let axis = resolve("top_k", op.axis(g), input.rank()).expect("a verified axis");
    let (k, extent) = (op.k(g) as usize, input.shape()[axis]);
    if k > extent {
        let text = format!("dimension {axis} has {extent} elements, fewer than `k`, which is {k}");
        return Err(EvalError::Shape(text));
    }
    let sorting = Sorting {
        axis,
        kept: k,
        descending: op.largest(g),
    };
    sorting.run(cx, input)
}

/// Which elements of a row come first.
struct Sorting {
    axis: usize,
    /// How many are kept.
    kept: usize,
    descending: bool,
}

impl Sorting {
    fn run(&self, cx: &EvalCx<'_>, input: &Tensor) -> EvalManyResult {
        let mut shape = input.shape().to_vec();
        shape[self.axis] = self.kept;
        cx.count(input.dtype(), &shape)?;
        let count = cx.count(DType::I64, &shape)?;
        let (values, places) = match input.dtype() {
            DType::Bool => self.rows(input, count, |a: bool, b| a.cmp(&b)),
            dtype => with_num!(dtype, T => self.rows(input, count, order::<T>), else {
                unreachable!("every dtype but `bool` is numeric")
            }),
        };
        Ok(smallvec![
            Tensor::new(shape.clone(), values),
            Tensor::of(shape, places)
        ])
    }

    /// The `count` elements that are kept, and the index of each.
    fn rows<T: Element>(
        &self,
        input: &Tensor,
        count: usize,
        order: impl Fn(T, T) -> Ordering,
    ) -> (mind_ir::tensor::Buffer, Vec<i64>) {
        let elements = input.elements::<T>();
        let (mut values, mut places) = (vec![T::ZERO; count], vec![0i64; count]);
        let extent = input.shape()[self.axis];
        let inner: usize = input.shape()[self.axis + 1..].iter().product();
        let rows = count.checked_div(self.kept).unwrap_or(0);
        let mut row: Vec<usize> = Vec::with_capacity(extent);
        for number in 0..rows {
            let (outer, column) = (number / inner, number % inner);
            let element = |at: usize| elements[(outer * extent + at) * inner + column];
            // Of equal elements the first comes first.
            let before = |&a: &usize, &b: &usize| {
                let order = order(element(a), element(b));
                let order = if self.descending {
                    order.reverse()
                } else {
                    order
                };
                order.then(a.cmp(&b))
            };
            row.clear();
            row.extend(0..extent);
            if self.kept < extent {
                row.select_nth_unstable_by(self.kept, before);
                row.truncate(self.kept);
            }
            row.sort_unstable_by(before);
            for (at, &place) in row.iter().enumerate() {
                let to = (outer * self.kept + at) * inner + column;
                values[to] = element(place);
                places[to] = place as i64;
            }
        }
        (T::wrap(values), places)
    }
}

/// -0 equals +0; all NaNs are equal, and above everything.
pub(crate) fn order<T: Num>(a: T, b: T) -> Ordering {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    a.partial_cmp(&b)
        .unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}
