//! Activations.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{F, I, S, arg, fixed};

mil_ops! {
    family: { shapes: "as `x`", infer: infer::elementwise::same, eval: eval::elementwise::unary }

    /// `x` up to `beta`, negative elements times `alpha`.
    CLAMPED_RELU = "clamped_relu" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
    }

    /// `x`, negative elements as `alpha (e^x - 1)`.
    ELU = "elu" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
    }

    /// `x (1 + erf(x / sqrt 2)) / 2`, or an approximation that `mode` names.
    GELU = "gelu" {
        since: [Ios15 => [arg("x", F).of(1), fixed("mode", S).word("EXACT")]],
        infer: infer::elementwise::gelu,
    }

    /// `x`, negative elements times `alpha`.
    LEAKY_RELU = "leaky_relu" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
    }

    /// `alpha x + beta` at every position.
    LINEAR_ACTIVATION = "linear_activation" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
    }

    /// `x`, negative elements times the `alpha` of their channel.
    PRELU = "prelu" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
        infer: infer::elementwise::per_channel,
        eval: eval::elementwise::per_channel,
    }

    /// `max(x, 0)` at every position.
    RELU = "relu" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `x` cut off at 0 and 6, at every position.
    RELU6 = "relu6" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `alpha tanh(beta x)` at every position.
    SCALED_TANH = "scaled_tanh" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
    }

    /// `1 / (1 + e^-x)` at every position.
    SIGMOID = "sigmoid" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `alpha x + beta`, cut off at 0 and 1.
    SIGMOID_HARD = "sigmoid_hard" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
    }

    /// `x sigmoid(x)` at every position.
    SILU = "silu" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `e / sum(e)` along `axis`, with `e = exp(x - max(x))`.
    SOFTMAX = "softmax" {
        since: [Ios15 => [arg("x", F).of(1), fixed("axis", I).int(-1)]],
        infer: infer::elementwise::along,
        eval: eval::normalize::softmax,
    }

    /// `ln(1 + e^x)` at every position.
    SOFTPLUS = "softplus" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `alpha ln(1 + e^(beta x))`, with one `alpha` and `beta` per channel.
    SOFTPLUS_PARAMETRIC = "softplus_parametric" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2), fixed("beta", F).of(2)],
        ],
        infer: infer::elementwise::per_channel,
        eval: eval::elementwise::per_channel,
    }

    /// `x / (1 + |x|)` at every position.
    SOFTSIGN = "softsign" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `x` where it is at least `alpha`, else 0.
    THRESHOLDED_RELU = "thresholded_relu" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(2)],
        ],
    }
}
