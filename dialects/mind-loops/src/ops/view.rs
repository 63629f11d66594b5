//! Strided views.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::{Tensor, advance};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_dtype;

use crate::extents::{dense, dims, extents};

ops! {
    /// A strided view of a buffer: a transpose, slice, broadcast or reshape that copies nothing.
    ///
    /// For example the transpose of a buffer of shape `[2, 3]` has `shape` `[3, 2]` and `strides` `[1, 3]`.
    ///
    /// Shapes: `shape`; position `i` is element `offset + sum(i * strides)` of the input, row-major.
    /// Errors: E2007 a view of a view, E3003 an element outside of the buffer, E3006 negative extent, E4006 not one
    /// stride per dimension.
    /// Source: this compiler, after NumPy's strided arrays.
    View = "loops.view" {
        operands: (input: Any),
        attrs: { shape: Ints, strides: Ints, offset: Int = 0 },
        traits: [Pure, Extended],
        names: {},
        infer: infer_view,
        eval: eval_view,
        fold: fold_view,
    }
}

fn infer_view(op: View, g: &Graph) -> InferResult {
    let (input, shape, strides) = (op.input(g), op.shape(g), op.strides(g));
    if g.defining_op(input)
        .is_some_and(|source| g.is::<View>(source))
    {
        return Err(Box::new(VerifyError::Arity {
            op: "view",
            expected: "a buffer".to_owned(),
            found: 0,
        }));
    }
    if strides.len() != shape.len() {
        return Err(Box::new(VerifyError::IndexCount {
            op: "view",
            rank: shape.len(),
            found: strides.len(),
        }));
    }
    mind_core::axes::check_rank("view", shape.len())?;
    if let Some(dimension) = shape.iter().position(|&extent| extent < 0) {
        return Err(Box::new(VerifyError::NegativeExtent {
            shape: format!("{shape:?}"),
            dimension,
            value: shape[dimension],
        }));
    }
    let count: i64 = match extents(g, "view", input)? {
        extents if extents.contains(&0) => 0,
        extents => extents.iter().product(),
    };
    if let Some((first, last)) = reach(shape, strides, op.offset(g))
        && (first < 0 || last >= i128::from(count))
    {
        return Err(Box::new(VerifyError::Extent {
            op: "view",
            dimension: "the elements seen".to_owned(),
            expected: format!("0..{count}"),
            found: format!("{first}..={last}"),
            help: "make the offset, the strides or the shape smaller",
        }));
    }
    Ok(g.ty(input).with_shape(dims(shape)).into())
}

/// Returns the first and the last element of a view; `None` for an empty one.
fn reach(shape: &[i64], strides: &[i64], offset: i64) -> Option<(i128, i128)> {
    if shape.contains(&0) {
        return None;
    }
    let steps = shape.iter().zip(strides);
    let steps = steps.map(|(&extent, &stride)| i128::from(extent - 1) * i128::from(stride));
    Some(
        steps.fold((offset.into(), offset.into()), |(low, high), step| {
            (low + step.min(0), high + step.max(0))
        }),
    )
}

impl View {
    /// Returns whether the view has all elements of the input in their order.
    pub fn is_whole(self, g: &Graph) -> bool {
        let shape: Vec<usize> = self
            .shape(g)
            .iter()
            .map(|&extent| extent as usize)
            .collect();
        let all = g.ty(self.input(g)).count() == g.ty(self.result(g)).count();
        let strides = dense(&shape);
        let own = self.strides(g).iter().zip(&strides).zip(&shape);
        let in_order = own.clone().all(|((a, b), &extent)| extent == 1 || a == b);
        all && self.offset(g) == 0 && (in_order || shape.contains(&0))
    }
}

fn fold_view(op: View, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    let same = g.type_id(input) == g.type_id(op.result(g));
    (same && op.is_whole(g)).then_some(Folded::Value(input))
}

fn eval_view(op: View, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (g, input) = (cx.graph, operands[0]);
    let shape: Vec<usize> = op.shape(g).iter().map(|&extent| extent as usize).collect();
    let count = cx.count(input.dtype(), &shape)?;
    let (strides, offset) = (op.strides(g), op.offset(g));
    with_dtype!(input.dtype(), T => {
        let elements = input.elements::<T>();
        let mut index = vec![0usize; shape.len()];
        let mut seen = Vec::with_capacity(count);
        for _ in 0..count {
            let steps = index.iter().zip(strides).map(|(&i, &stride)| i as i64 * stride);
            seen.push(elements[(offset + steps.sum::<i64>()) as usize]);
            advance(&mut index, &shape);
        }
        Ok(Tensor::of(shape, seen))
    })
}
