//! Activations.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{F, I, S, arg, fixed};

mil_ops! {
    /// `x` up to `beta`, negative elements times `alpha`.
    CLAMPED_RELU = "clamped_relu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x`, negative elements as `alpha (e^x - 1)`.
    ELU = "elu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x (1 + erf(x / sqrt 2)) / 2`, or an approximation that `mode` names.
    GELU = "gelu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("mode", S).word("EXACT")],
        ],
        infer: infer::elementwise::gelu,
        eval: eval::elementwise::unary,
    }

    /// `x`, negative elements times `alpha`.
    LEAKY_RELU = "leaky_relu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `alpha x + beta` at every position.
    LINEAR_ACTIVATION = "linear_activation" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x`, negative elements times the `alpha` of their channel.
    PRELU = "prelu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
        infer: infer::elementwise::per_channel,
        eval: eval::elementwise::per_channel,
    }

    /// `max(x, 0)` at every position.
    RELU = "relu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x` cut off at 0 and 6, at every position.
    RELU6 = "relu6" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `alpha tanh(beta x)` at every position.
    SCALED_TANH = "scaled_tanh" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `1 / (1 + e^-x)` at every position.
    SIGMOID = "sigmoid" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `alpha x + beta`, cut off at 0 and 1.
    SIGMOID_HARD = "sigmoid_hard" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x sigmoid(x)` at every position.
    SILU = "silu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `e / sum(e)` along `axis`, with `e = exp(x - max(x))`.
    SOFTMAX = "softmax" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("axis", I).int(-1)],
        ],
        infer: infer::elementwise::along,
        eval: eval::normalize::softmax,
    }

    /// `ln(1 + e^x)` at every position.
    SOFTPLUS = "softplus" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `alpha ln(1 + e^(beta x))`, with one `alpha` and `beta` per channel.
    SOFTPLUS_PARAMETRIC = "softplus_parametric" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
        infer: infer::elementwise::per_channel,
        eval: eval::elementwise::per_channel,
    }

    /// `x / (1 + |x|)` at every position.
    SOFTSIGN = "softsign" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x` where it is at least `alpha`, else 0.
    THRESHOLDED_RELU = "thresholded_relu" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }
}
