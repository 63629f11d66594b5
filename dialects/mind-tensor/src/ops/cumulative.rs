//! Prefix operations (scans).

pub use mind_core::eval::cumulative::{Accumulation, Prefixes};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferResult;

use crate::axes::listed;

ops! {
    /// A prefix operation: each result combines the elements along `axis` up to its position.
    ///
    /// Shapes: as the operand.
    /// Order: a chain along the axis, as core's `Cumulative`.
    /// Errors: E2005 `bool`, E3004 axis out of range.
    /// Source: this compiler.
    Cumulative = "tensor.cumulative" {
        operands: (input: Num),
        attrs: { axis: Int, kind: Accumulation, exclusive: Bool = false, reverse: Bool = false },
        traits: [Pure, Extended],
        names: {},
        infer: infer_cumulative,
        eval: eval_cumulative,
    }
}

impl Cumulative {
    /// Returns the attributes.
    pub fn prefixes(self, g: &Graph) -> Prefixes {
        Prefixes {
            kind: self.kind(g),
            exclusive: self.exclusive(g),
            reverse: self.reverse(g),
        }
    }
}

fn infer_cumulative(op: Cumulative, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    listed("cumulative", &[op.axis(g)], input.rank())?;
    Ok(input.to_owned().into())
}

fn eval_cumulative(
    op: Cumulative,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let axis = usize::try_from(op.axis(cx.graph)).expect("a verified axis is not negative");
    op.prefixes(cx.graph).of(cx, operands[0], axis)
}
