//! Sliding windows.

use mind_core::slide::{Slide as Windows, SlideKind};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

ops! {
    /// The reduction `kind` of the elements under a sliding window, at every position.
    ///
    /// Tap `t` at position `p` of a dimension is element `(p * stride + t * dilation - low) / base`. A tap is outside
    /// if that is not an integer or not an index; it is then skipped, or is 0 for `multiply`. The lists have an entry
    /// for each dimension. A second operand is a filter, or for `mean` the divisors of the sums. The extents of a
    /// filter are those of the window; where that is 1, they are 1 or those of `positions`. The extents of divisors are
    /// 1 or those of `positions`.
    ///
    /// Shapes: `positions`; all extents are numbers.
    /// Order: one chain over the taps, row-major; products are fused multiply-adds.
    /// Errors: E2004 different dtypes, E2005 `bool`, E2007 a missing filter, E3002, E3003 a filter of another shape, or
    /// an extent that is not known, E4006 lists of another length, E4010 an entry out of range; E6005 when run, on a
    /// mean of no elements for integers.
    /// Source: this compiler; `ReduceWindow`, `Conv` and `ConvTranspose` of core.
    Slide = "tensor.slide" {
        variadic: (inputs: Num),
        attrs: {
            kind: SlideKind, positions: Ints, window: Ints, strides: Ints, dilations: Ints, low: Ints, base: Ints,
        },
        traits: [Pure, Extended],
        names: {},
        infer: infer_slide,
        eval: eval_slide,
    }
}

impl Slide {
    /// Returns the windows.
    ///
    /// # Errors
    ///
    /// E2007 no input, E3003 an extent that is not known, E4006 lists of another length, E4010 an entry out of range.
    pub fn windows(self, g: &Graph) -> Result<Windows, VerifyError> {
        let lists = [
            self.positions(g),
            self.window(g),
            self.strides(g),
            self.dilations(g),
            self.low(g),
            self.base(g),
        ];
        Windows::read(g, "slide", self.kind(g), self.inputs(g), lists)
    }
}

fn infer_slide(op: Slide, g: &Graph) -> InferResult {
    op.windows(g)?.infer(g, "slide", op.inputs(g))
}

fn eval_slide(op: Slide, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let windows = op.windows(cx.graph).expect("verified attributes");
    windows.eval(cx, operands)
}
