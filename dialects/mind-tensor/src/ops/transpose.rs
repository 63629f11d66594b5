//! Transposes.

use mind_core::ops::shape::{permuted, permuted_type};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::Tensor;

ops! {
    /// The dimensions in another order.
    ///
    /// Shapes: `result[i] = input[permutation[i]]`.
    /// Errors: E3008 not a permutation of the axes.
    /// Source: mind-spec v1.0 ir.md, "Shape manipulation".
    Transpose = "tensor.transpose" {
        operands: (input: Any),
        attrs: { permutation: Ints },
        traits: [Pure, Extended],
        names: {},
        infer: |op, g| permuted_type(g.ty(op.input(g)), op.permutation(g)),
        eval: eval_transpose,
        fold: fold_transpose,
    }
}

fn fold_transpose(op: Transpose, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    let in_order = op.permutation(g).is_sorted();
    (in_order && g.type_id(input) == g.type_id(op.result(g))).then_some(Folded::Value(input))
}

fn eval_transpose(
    op: Transpose,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    permuted(cx, operands[0], op.permutation(cx.graph))
}
