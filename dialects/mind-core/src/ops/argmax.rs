//! Indices of the largest and the smallest elements.

use std::cmp::Ordering;

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::{DType, Dim, Shape, TensorType, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_num;

use crate::axes::resolve;

ops! {
    /// The index of the largest element along `axis`; the first of equal elements, or the last with `last`.
    ///
    /// -0 equals +0, and NaN is larger than every number.
    ///
    /// Shapes: `axis` is removed, or becomes 1 when `keepdims`; the result is `i64`.
    /// Errors: E2005 `bool`, E3003 no element along `axis`, E3004 axis out of range.
    /// Source: this compiler; ONNX `ArgMax`, MIL `reduce_argmax`.
    ArgMax = "core.argmax" {
        operands: (input: Num),
        attrs: { axis "ax": Int, keepdims "kd": Bool = false, last "l": Bool = false },
        traits: [Pure, Extended],
        names: { core: "ArgMax", mic1: "argmax" },
        infer: |op, g| infer_index("argmax", g, g.ty(op.input(g)), op.axis(g), op.keepdims(g)),
        eval: eval_argmax,
    }

    /// The index of the smallest element along `axis`; the first of equal elements, or the last with `last`.
    ///
    /// -0 equals +0, and NaN is smaller than every number.
    ///
    /// Shapes: as `ArgMax`.
    /// Errors: E2005 `bool`, E3003 no element along `axis`, E3004 axis out of range.
    /// Source: this compiler; ONNX `ArgMin`, MIL `reduce_argmin`.
    ArgMin = "core.argmin" {
        operands: (input: Num),
        attrs: { axis "ax": Int, keepdims "kd": Bool = false, last "l": Bool = false },
        traits: [Pure, Extended],
        names: { core: "ArgMin", mic1: "argmin" },
        infer: |op, g| infer_index("argmin", g, g.ty(op.input(g)), op.axis(g), op.keepdims(g)),
        eval: eval_argmin,
    }
}

fn infer_index(
    op: &'static str,
    g: &Graph,
    input: TypeView<'_>,
    axis: i64,
    keepdims: bool,
) -> InferResult {
    let axis = resolve(op, axis, input.rank())?;
    if input.shape[axis] == Dim::Fixed(0) {
        return Err(Box::new(VerifyError::Extent {
            op,
            dimension: format!("dimension {axis}"),
            expected: "1 or more".to_owned(),
            found: input.shape[axis].display(g.symbols()).to_string(),
            help: "an empty axis has neither a largest nor a smallest element",
        }));
    }
    let mut shape: Shape = input.shape.iter().copied().collect();
    if keepdims {
        shape[axis] = Dim::Fixed(1);
    } else {
        shape.remove(axis);
    }
    Ok(TensorType::new(DType::I64, shape).into())
}

fn eval_argmax(op: ArgMax, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    let search = Search {
        axis: op.axis(g),
        keepdims: op.keepdims(g),
        last: op.last(g),
        wanted: Ordering::Greater,
    };
    search.run(cx, operands[0])
}

fn eval_argmin(op: ArgMin, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    let search = Search {
        axis: op.axis(g),
        keepdims: op.keepdims(g),
        last: op.last(g),
        wanted: Ordering::Less,
    };
    search.run(cx, operands[0])
}

/// A search for an extreme element along an axis.
struct Search {
    axis: i64,
    keepdims: bool,
    last: bool,
    /// The order of the result relative to the other elements.
    wanted: Ordering,
}

impl Search {
    fn run(&self, cx: &EvalCx<'_>, input: &Tensor) -> Result<Tensor, EvalError> {
        let axis = resolve("argmax", self.axis, input.rank()).expect("a verified axis");
        let mut shape = input.shape().to_vec();
        let extent = shape[axis];
        if self.keepdims {
            shape[axis] = 1;
        } else {
            shape.remove(axis);
        }
        if extent == 0 {
            let found = input.shape();
            let text = format!("dimension {axis} of {found:?} has no element to choose");
            return Err(EvalError::Shape(text));
        }
        let count = cx.count(DType::I64, &shape)?;
        let inner = match count {
            0 => 0,
            _ => input.shape()[axis + 1..].iter().product(),
        };
        let indices = with_num!(input.dtype(), T => self.indices(input.elements::<T>(), count, extent, inner), else {
            unreachable!("verified operands are numeric")
        });
        Ok(Tensor::of(shape, indices))
    }

    /// Returns the index of the result in each of `count` rows, which have `extent` elements with stride `inner`.
    fn indices<T: Num>(
        &self,
        elements: &[T],
        count: usize,
        extent: usize,
        inner: usize,
    ) -> Vec<i64> {
        let index = |row: usize| {
            let start = row / inner * extent * inner + row % inner;
            let element = |at: usize| elements[start + at * inner];
            let better = |best: usize, at: usize| match self.beats(element(at), element(best)) {
                true => at,
                false => best,
            };
            (1..extent).fold(0, better) as i64
        };
        (0..count).map(index).collect()
    }

    /// Returns whether `x` is chosen over `best`, which has a lower index.
    fn beats<T: Num>(&self, x: T, best: T) -> bool {
        match x.partial_cmp(&best) {
            Some(Ordering::Equal) => self.last,
            Some(order) => order == self.wanted,
            None if is_nan(best) => is_nan(x) && self.last,
            None => true,
        }
    }
}

fn is_nan<T: Num>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}
