//! Two-dimensional convolutions.

use mind_core::ops::conv::{convolution, convolved_type};
use mind_ir::attr::Padding;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::InferResult;

ops! {
    /// A convolution: sums of products of `filter` with the window of `input` at every position.
    ///
    /// Shapes: `[N, H, W, C] [Kh, Kw, C, F] -> [N, Ho, Wo, F]`; `Ho = floor((H + top + bottom - Kh) / stride) + 1`.
    /// `valid` does not pad; `same` gives `Ho = ceil(H / stride)`, with an odd element of padding at the end.
    /// Order: one chain of fused multiply-adds over (kh, kw, c), a padded tap adding a product with +0.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3002 rank not 4, E3006 no output position, E4009 channels differ,
    /// E4010 strides or padding.
    /// Source: mind-spec v1.0 ir.md, `Conv2d`.
    Window = "tensor.window" {
        operands: (input: Num, filter: Num),
        attrs: { strides: Ints = &[1, 1], padding: Pad = Padding::Valid },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_window,
        eval: eval_window,
    }
}

fn infer_window(op: Window, g: &Graph) -> InferResult {
    let (input, filter) = (g.ty(op.input(g)), g.ty(op.filter(g)));
    convolved_type(g, "window", input, filter, op.strides(g), op.padding(g))
}

fn eval_window(op: Window, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (strides, padding) = (op.strides(cx.graph), op.padding(cx.graph));
    convolution(cx, operands[0], operands[1], strides, padding)
}
