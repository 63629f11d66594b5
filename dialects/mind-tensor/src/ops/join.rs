//! Concatenation.

use mind_core::ops::join::{concatenated, joined_type};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

ops! {
    /// The inputs, concatenated along `axis`.
    ///
    /// Shapes: as the inputs, their extents along `axis` added up.
    /// Errors: E2004 different dtypes, E3002 different ranks, E3003 other extents differ, E3004 axis out
    /// of range.
    /// Source: mic@2 `cat`.
    Concat = "tensor.concat" {
        variadic: (inputs: Any),
        attrs: { axis: Int },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_concat,
        eval: eval_concat,
        fold: |op, g| match *op.inputs(g) {
            [only] => Some(Folded::Value(only)),
            _ => None,
        },
    }
}

fn infer_concat(op: Concat, g: &Graph) -> InferResult {
    let (inputs, axis) = (op.inputs(g), op.axis(g));
    if axis < 0 {
        return Err(Box::new(VerifyError::AxisRange {
            op: "concat",
            axis,
            rank: g.ty(inputs[0]).rank(),
        }));
    }
    joined_type(g, inputs, axis)
}

fn eval_concat(op: Concat, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let axis = usize::try_from(op.axis(cx.graph)).expect("a verified axis is not negative");
    concatenated(cx, operands, axis)
}
