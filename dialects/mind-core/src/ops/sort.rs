//! Sorting and top-k.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::ops;
use mind_ir::tensor::{Element, Tensor};
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::{OpId, with_dtype};
use smallvec::smallvec;

use crate::axes::resolve;
pub use crate::eval::keys::Key;
use crate::eval::select::{Ranking, Selector};

ops! {
    /// The elements along `axis` in ascending or descending order, and the original index of each.
    ///
    /// -0 equals +0, all NaNs are equal and larger than every number, `false` is less than `true`.
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
    selected(op.id(), cx, operands[0])
}

fn eval_top_k(op: TopK, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (g, input) = (cx.graph, operands[0]);
    let axis = resolve("top_k", op.axis(g), input.rank()).expect("a verified axis");
    let (k, extent) = (op.k(g) as usize, input.shape()[axis]);
    if k > extent {
        let text = format!("dimension {axis} has {extent} elements, fewer than `k`, which is {k}");
        return Err(EvalError::Shape(text));
    }
    selected(op.id(), cx, input)
}

/// Evaluates a sort or top-k.
fn selected(op: OpId, cx: &EvalCx<'_>, input: &Tensor) -> EvalManyResult {
    let selection = Selection::of(cx.graph, op, input.shape());
    let selection = selection.expect("a verified sort of enough elements");
    let mut shape = input.shape().to_vec();
    shape[selection.axis] = selection.ranking.kept;
    cx.count(input.dtype(), &shape)?;
    let count = cx.count(DType::I64, &shape)?;
    let mut places = vec![0i64; count];
    let values = with_dtype!(input.dtype(), T => {
        let mut values = vec![T::ZERO; count];
        selection.select(input.elements::<T>(), &mut values, &mut places);
        Tensor::of(shape.clone(), values)
    });
    Ok(smallvec![values, Tensor::of(shape, places)])
}

/// The first elements of each row along an axis, in sorted order.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    axis: usize,
    /// The product of the extents before the axis.
    outer: usize,
    extent: usize,
    /// The product of the extents after the axis.
    inner: usize,
    ranking: Ranking,
}

impl Selection {
    /// Returns the selection of `op`, which is verified, from an array of this shape. `None` if it is not a sort, or
    /// selects more elements than there are.
    pub fn of(g: &Graph, op: OpId, shape: &[usize]) -> Option<Selection> {
        let (axis, kept, descending) = match (g.view::<Sort>(op), g.view::<TopK>(op)) {
            (Some(sort), _) => (sort.axis(g), None, sort.descending(g)),
            (None, Some(top)) => (top.axis(g), Some(top.k(g) as usize), top.largest(g)),
            (None, None) => return None,
        };
        let axis = resolve("sort", axis, shape.len()).ok()?;
        let extent = shape[axis];
        let kept = kept.unwrap_or(extent);
        // Saturates, because the other extents of an empty array may overflow.
        let product = |dims: &[usize]| dims.iter().copied().fold(1, usize::saturating_mul);
        (kept <= extent).then(|| Selection {
            axis,
            outer: product(&shape[..axis]),
            extent,
            inner: product(&shape[axis + 1..]),
            ranking: Ranking { kept, descending },
        })
    }

    /// Returns the selection from `outer` consecutive blocks, each of which has complete rows along the axis.
    pub fn of_blocks(self, outer: usize) -> Selection {
        Selection { outer, ..self }
    }

    /// Returns the number of blocks, and the elements of a block in the input and in the result.
    pub fn blocks(&self) -> (usize, [usize; 2]) {
        let sizes = [self.extent, self.ranking.kept].map(|along| along.saturating_mul(self.inner));
        (self.outer, sizes)
    }

    /// Writes the selected elements of `input`, and the index of each along the axis.
    ///
    /// # Panics
    ///
    /// If the slices are smaller than the shape requires.
    pub fn select<T: Key>(&self, input: &[T], values: &mut [T], places: &mut [i64]) {
        let (kept, inner) = (self.ranking.kept, self.inner);
        if values.is_empty() {
            return;
        }
        let mut selector = Selector::new(self.ranking);
        let mut gathered = Vec::new();
        for number in 0..self.outer * inner {
            let (block, column) = (number / inner, number % inner);
            let rows = &input[block * self.extent * inner..][..self.extent * inner];
            let row = if inner == 1 {
                rows
            } else {
                gathered.clear();
                gathered.extend(rows[column..].iter().step_by(inner));
                &gathered
            };
            for (at, &place) in selector.select(row).iter().enumerate() {
                let to = (block * kept + at) * inner + column;
                places[to] = place as i64;
                values[to] = row[place];
            }
        }
    }
}
