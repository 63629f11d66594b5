//! Prefix operations (scans).

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferResult;

use crate::axes::resolve;
pub use crate::eval::cumulative::{Accumulation, Prefixes};

ops! {
    /// A prefix operation: each result combines the elements along `axis` up to its position.
    ///
    /// `kind` is the combining function: `sum`, `prod`, `max` (NaN if one is NaN, +0 above -0) or `min` (NaN if one is
    /// NaN, -0 below +0). With `exclusive` the element at the position itself is excluded; the first result is then the
    /// identity: 0, 1, -inf or the smallest integer, +inf or the largest integer. With `reverse` the prefixes start
    /// from the last element. For example the exclusive sum of `[1, 2, 3]` is `[0, 1, 3]`.
    ///
    /// Shapes: as the operand.
    /// Order: one chain along the axis from the identity, in the accumulator of `Sum`; each result is rounded from it.
    /// Errors: E2005 `bool`, E3004 axis out of range.
    /// Source: this compiler; ONNX `CumSum` and `CumProd`, MIL `cumsum`, StableHLO `reduce_window`.
    Cumulative = "core.cumulative" {
        operands: (input: Num),
        attrs: {
            axis "ax": Int, kind "k": Accumulation = Accumulation::Sum, exclusive "e": Bool = false,
            reverse "r": Bool = false,
        },
        traits: [Pure, Extended],
        names: { core: "Cumulative", mic1: "cumulative" },
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
    resolve("cumulative", op.axis(g), input.rank())?;
    Ok(input.to_owned().into())
}

fn eval_cumulative(
    op: Cumulative,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let axis = resolve("cumulative", op.axis(cx.graph), operands[0].rank());
    let axis = axis.expect("a verified axis lies in the rank");
    op.prefixes(cx.graph).of(cx, operands[0], axis)
}
