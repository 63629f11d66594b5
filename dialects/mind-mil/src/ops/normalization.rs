//! Normalisations.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{F, I, arg, fixed};

mil_ops! {
    /// `(x - mean) / sqrt(variance + epsilon) gamma + beta`, channel by channel, with given moments.
    BATCH_NORM = "batch_norm" {
        shapes: "as `x`",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("mean", F).of(1), fixed("variance", F).of(1),
                fixed("gamma", F).of(1).optional(), fixed("beta", F).of(1).optional(),
                fixed("epsilon", F).of(1).float(1e-05),
            ],
            Ios17 => [
                arg("x", F).of(1), fixed("mean", F).of(2), fixed("variance", F).of(2),
                fixed("gamma", F).of(2).optional(), fixed("beta", F).of(2).optional(),
                fixed("epsilon", F).of(2).float(1e-05),
            ],
        ],
        infer: infer::normalize::batch,
        eval: eval::normalize::batch,
    }

    /// `(x - mean) / sqrt(variance + epsilon) gamma + beta`, with the moments of each plane.
    INSTANCE_NORM = "instance_norm" {
        shapes: "as `x`",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("gamma", F).of(1).optional(), fixed("beta", F).of(1).optional(),
                fixed("epsilon", F).of(1).float(1e-05),
            ],
            Ios17 => [
                arg("x", F).of(1), fixed("gamma", F).of(2).optional(), fixed("beta", F).of(2).optional(),
                fixed("epsilon", F).of(2).float(1e-05),
            ],
        ],
        infer: infer::normalize::instance,
        eval: eval::normalize::batch,
    }

    /// `x` over the root of the sum of squares of the last three dimensions.
    L2_NORM = "l2_norm" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(1e-06)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(1e-06)],
        ],
        infer: infer::normalize::l2,
        eval: eval::normalize::l2,
    }

    /// `(x - mean) / sqrt(variance + epsilon) gamma + beta` over `axes`.
    LAYER_NORM = "layer_norm" {
        shapes: "as `x`",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("axes", I).optional(), fixed("gamma", F).of(1).optional(),
                fixed("beta", F).of(1).optional(), fixed("epsilon", F).of(1).float(1e-05),
            ],
            Ios17 => [
                arg("x", F).of(1), fixed("axes", I).optional(), fixed("gamma", F).of(2).optional(),
                fixed("beta", F).of(2).optional(), fixed("epsilon", F).of(2).float(1e-05),
            ],
        ],
        infer: infer::normalize::layer,
        eval: eval::normalize::layer,
    }

    /// `x` over a power of the squares of neighbouring channels.
    LOCAL_RESPONSE_NORM = "local_response_norm" {
        shapes: "as `x`",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("size", I), fixed("alpha", F).of(1).optional(),
                fixed("beta", F).of(1).optional(), fixed("k", F).of(1).optional(),
            ],
            Ios17 => [
                arg("x", F).of(1), fixed("size", I), fixed("alpha", F).of(2).optional(),
                fixed("beta", F).of(2).optional(), fixed("k", F).of(2).optional(),
            ],
        ],
        infer: infer::elementwise::same,
        eval: eval::normalize::across_channels,
    }
}
