//! Prefix operations (scans).

use mind_core::axes::resolve;
pub use mind_core::eval::cumulative::{Accumulation, Prefixes};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferResult;

use crate::extents::extents;
use crate::ops::nest::check_schedule;

ops! {
    /// A prefix operation: each result combines the elements along `axis` up to its position.
    ///
    /// Shapes: as the operand.
    /// Schedule: the dimensions after `axis` are vectorised, and threads share those before it. `at` is as for
    /// `loops.nest`.
    /// Order: a chain along the axis, as core's `Cumulative`.
    /// Errors: E2005 `bool`, E3004 axis out of range, E4006 not one offset.
    /// Source: this compiler.
    Cumulative = "loops.cumulative" {
        operands: (input: Num),
        attrs: {
            axis: Int, kind: Accumulation, exclusive: Bool = false, reverse: Bool = false, at: Ints = &[],
        },
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
    let input = op.input(g);
    extents(g, "cumulative", input)?;
    check_schedule("cumulative", 1, 0, &[], &[], op.at(g))?;
    let (axis, rank) = (op.axis(g), g.ty(input).rank());
    resolve("cumulative", axis, if axis < 0 { 0 } else { rank })?;
    Ok(g.ty(input).to_owned().into())
}

fn eval_cumulative(
    op: Cumulative,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let axis = usize::try_from(op.axis(cx.graph)).expect("a verified axis is not negative");
    op.prefixes(cx.graph).of(cx, operands[0], axis)
}
