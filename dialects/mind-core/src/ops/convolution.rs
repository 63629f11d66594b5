//! Convolutions and transposed convolutions of one to three dimensions, in both layouts and with groups.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

pub use crate::convolve::{Convolve, Direction, Layout};
pub use crate::sums::SumType;

use crate::convolve::Lists;

ops! {
    /// Convolution of `input` with `filter`, along one to three dimensions.
    ///
    /// In layout `nhwc` images are `[N, s.., C]` and filters `[k.., C / groups, F]`; in `nchw` they are `[N, C, s..]`
    /// and `[F, C / groups, k..]`. Each filter reads the channels of its group. `pads` are the zeros before each
    /// spatial dimension, then those after each. An empty list means 0 for `pads`, and 1 for `strides` and `dilations`.
    /// Operands are converted to `dtype` first, which is exact; the result has that dtype.
    ///
    /// Shapes: `[N, o.., F]` or `[N, F, o..]`; `o = floor((s + low + high - ((k - 1) * dilation + 1)) / stride) + 1`.
    /// Order: one chain of fused multiply-adds over the taps, row-major, then the channels of the group, in either
    /// layout; a padded tap adds a product with +0.
    /// Errors: E2004 different dtypes, E2005 `bool`, or operands that `dtype` does not accumulate, E3002 rank not 3 to
    /// 5, or different ranks, E3006 a negative or too large number of output positions, E4006 lists of another length,
    /// E4009 channels differ, E4010 an entry too small, or channels that groups do not divide.
    /// Source: this compiler; ONNX `Conv` and `ConvInteger`, MIL `conv`, StableHLO `convolution`.
    Conv = "core.conv" {
        operands: (input: Num, filter: Num),
        attrs: {
            layout "l": Layout = Layout::Nhwc, strides "s": Ints = &[], dilations "d": Ints = &[], pads "p": Ints = &[],
            groups "g": Int = 1, dtype "t": SumType = SumType::Same,
        },
        traits: [Pure, Extended],
        names: { core: "Conv", mic1: "conv" },
        infer: infer_conv,
        eval: eval_conv,
    }

    /// Transposed convolution: element `i` of `input` times tap `k` of `filter` is added to the result at
    /// `i * stride + k * dilation - low`.
    ///
    /// Images are as in `Conv`; filters are `[k.., F / groups, C]` in layout `nhwc`, and `[C, F / groups, k..]` in
    /// `nchw`. `pads` crops the start of each spatial dimension of the result, then the end of each, and
    /// `output_padding` is added to the end. Operands are converted to `dtype` first, which is exact; the result has
    /// that dtype.
    ///
    /// Shapes: `[N, o.., F]` or `[N, F, o..]`;
    /// `o = (s - 1) * stride + (k - 1) * dilation + 1 + output_padding - low - high`.
    /// Order: one chain of fused multiply-adds over the taps that contribute to an element, row-major, then the
    /// channels of the group, in either layout.
    /// Errors: E2004 different dtypes, E2005 `bool`, or operands that `dtype` does not accumulate, E3002 rank not 3 to
    /// 5, or different ranks, E3006 a negative or too large number of output positions, E4006 lists of another length,
    /// E4009 channels differ, E4010 an entry too small, or channels that groups do not divide.
    /// Source: this compiler; ONNX `ConvTranspose`, MIL `conv_transpose`, StableHLO `convolution`.
    ConvTranspose = "core.conv_transpose" {
        operands: (input: Num, filter: Num),
        attrs: {
            layout "l": Layout = Layout::Nhwc, strides "s": Ints = &[], dilations "d": Ints = &[], pads "p": Ints = &[],
            output_padding "op": Ints = &[], groups "g": Int = 1, dtype "t": SumType = SumType::Same,
        },
        traits: [Pure, Extended],
        names: { core: "ConvTranspose", mic1: "conv_transpose" },
        infer: infer_conv_transpose,
        eval: eval_conv_transpose,
    }
}

impl Conv {
    /// Returns the validated attributes of the convolution.
    ///
    /// # Errors
    ///
    /// E3002 rank not 3 to 5, E4006 lists of another length, E4010 an entry too small.
    pub fn convolve(self, g: &Graph) -> Result<Convolve, VerifyError> {
        let lists = Lists {
            strides: self.strides(g),
            dilations: self.dilations(g),
            pads: self.pads(g),
            more: &[],
        };
        let rank = g.ty(self.input(g)).rank();
        let attrs = (self.layout(g), self.groups(g), self.dtype(g));
        Convolve::new(("conv", Direction::Forward), rank, attrs, &lists)
    }
}

impl ConvTranspose {
    /// Returns the validated attributes of the convolution.
    ///
    /// # Errors
    ///
    /// E3002 rank not 3 to 5, E4006 lists of another length, E4010 an entry too small.
    pub fn convolve(self, g: &Graph) -> Result<Convolve, VerifyError> {
        let lists = Lists {
            strides: self.strides(g),
            dilations: self.dilations(g),
            pads: self.pads(g),
            more: self.output_padding(g),
        };
        let rank = g.ty(self.input(g)).rank();
        let attrs = (self.layout(g), self.groups(g), self.dtype(g));
        Convolve::new(("conv_transpose", Direction::Backward), rank, attrs, &lists)
    }
}

fn infer_conv(op: Conv, g: &Graph) -> InferResult {
    op.convolve(g)?
        .infer(g, g.ty(op.input(g)), g.ty(op.filter(g)))
}

fn infer_conv_transpose(op: ConvTranspose, g: &Graph) -> InferResult {
    op.convolve(g)?
        .infer(g, g.ty(op.input(g)), g.ty(op.filter(g)))
}

fn eval_conv(op: Conv, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let convolve = op.convolve(cx.graph).expect("verified attributes");
    convolve.eval(cx, operands)
}

fn eval_conv_transpose(
    op: ConvTranspose,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let convolve = op.convolve(cx.graph).expect("verified attributes");
    convolve.eval(cx, operands)
}
