//! Convolutions.

use crate::element::Element::Uint8;
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{F, I, S, arg, fixed};

mil_ops! {
    /// A convolution of `x` with `weight`.
    CONV = "conv" {
        shapes: "`[N, C, ..] [O, C / groups, ..] -> [N, O, ..]`, as the window rule says",
        since: [
            Ios15 => [
                arg("x", F).of(1), arg("weight", F).of(1), fixed("bias", F).of(1).optional(),
                fixed("strides", I).optional(), fixed("pad_type", S).word("valid"),
                fixed("pad", I).optional(), fixed("dilations", I).optional(), fixed("groups", I).int(1),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("weight", F).of(2), arg("bias", F).of(2).optional(),
                fixed("strides", I).optional(), fixed("pad_type", S).word("valid"),
                fixed("pad", I).optional(), fixed("dilations", I).optional(), fixed("groups", I).int(1),
            ],
        ],
        infer: infer::window::conv,
        eval: eval::window::conv,
    }

    /// A convolution with a quantised `weight`.
    CONV_QUANTIZED = "conv_quantized" {
        shapes: "`[N, C, ..] [O, C / groups, ..] -> [N, O, ..]`",
        since: [
            Ios15 => [
                arg("x", F).of(1), arg("weight", Elements::of(&[Uint8])).of(2),
                fixed("bias", Elements::of(&[Uint8])).of(2).optional(), fixed("quantization_type", S),
                fixed("nbits", I).optional(), fixed("quant_scale", F).of(1), fixed("quant_bias", F).of(1),
                fixed("strides", I).optional(), fixed("pad_type", S).word("valid"),
                fixed("pad", I).optional(), fixed("dilations", I).optional(), fixed("groups", I).int(1),
            ],
        ],
        infer: infer::elementwise::declared,
        not_run: "its reference leaves open how weights of few bits are packed",
    }

    /// A convolution run backwards.
    CONV_TRANSPOSE = "conv_transpose" {
        shapes: "`[N, C, ..] [C, O / groups, ..] -> [N, O, ..]`",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("weight", F).of(1), fixed("bias", F).of(1).optional(),
                fixed("pad", I).optional(), fixed("output_shape", I).optional(),
                fixed("pad_type", S).word("valid"), fixed("strides", I).optional(),
                fixed("dilations", I).optional(), fixed("groups", I).int(1),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("weight", F).of(2), arg("bias", F).of(2).optional(),
                fixed("pad", I).optional(), fixed("output_shape", I).optional(),
                fixed("pad_type", S).word("valid"), fixed("strides", I).optional(),
                fixed("dilations", I).optional(), fixed("groups", I).int(1),
            ],
        ],
        infer: infer::window::conv_transpose,
        eval: eval::spread::conv_transpose,
    }
}
