//! Sliding windows.

use mind_core::slide::{Slide as Windows, SlideKind};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

use crate::ops::nest::check_schedule;

ops! {
    /// The reduction `kind` of the elements under a sliding window, at every position; see `tensor.slide`.
    ///
    /// Shapes: as `tensor.slide`.
    /// Schedule: the vectorised dimension is the last one with more than one position. `parallel` is another dimension,
    /// which threads share; `[]` if one thread runs the whole. `at` is as for `loops.nest`.
    /// Order: one chain over the taps, row-major; products are fused multiply-adds.
    /// Errors: E2004 different dtypes, E2005 `bool`, E2007 a missing filter, E3002, E3003 a filter of another shape, or
    /// an extent that is not known, E3004 axis out of range, E4006 lists of another length, E4010 an entry out of
    /// range, E4022 threads that share the vectorised dimension or several; E6005 when run, on a mean of no elements
    /// for integers.
    /// Source: this compiler; `ReduceWindow`, `Conv` and `ConvTranspose` of core.
    Slide = "loops.slide" {
        variadic: (inputs: Num),
        attrs: {
            kind: SlideKind, positions: Ints, window: Ints, strides: Ints, dilations: Ints, low: Ints, base: Ints,
            parallel: Ints = &[], at: Ints = &[],
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

    /// Returns the dimension that threads share.
    pub fn shared(self, g: &Graph) -> Option<usize> {
        self.parallel(g).first().map(|&axis| axis as usize)
    }
}

/// Returns the vectorised dimension: the last one with more than one position, or else the last one.
pub fn vector_axis(
    positions: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
) -> Option<usize> {
    let last = positions.len().checked_sub(1)?;
    let found = positions.enumerate().rev().find(|&(_, count)| count > 1);
    Some(found.map_or(last, |(axis, _)| axis))
}

fn infer_slide(op: Slide, g: &Graph) -> InferResult {
    let windows = op.windows(g)?;
    let rank = windows.axes.len();
    check_schedule("slide", 1, rank, op.parallel(g), &[], op.at(g))?;
    let vector = vector_axis(windows.axes.iter().map(|axis| axis.positions));
    if op.parallel(g).len() > 1 || op.shared(g).is_some_and(|axis| Some(axis) == vector) {
        return Err(Box::new(VerifyError::Word {
            op: "slide",
            attr: "parallel",
            found: format!("{:?}", op.parallel(g)),
            words: "one dimension at most, and not that of vectors".to_owned(),
        }));
    }
    windows.infer(g, "slide", op.inputs(g))
}

fn eval_slide(op: Slide, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let windows = op.windows(cx.graph).expect("verified attributes");
    windows.eval(cx, operands)
}
