//! Random numbers.

use crate::infer;
use crate::row::mil_ops;
use crate::signature::{F, I, S, arg, fixed};

mil_ops! {
    /// Random numbers.
    RANDOM_BERNOULLI = "random_bernoulli" {
        shapes: "as declared",
        since: [
            Ios15 => [arg("shape", I), fixed("prob", F).of(1).optional(), fixed("seed", I).optional()],
        ],
        infer: infer::elementwise::declared,
        not_run: "its result is random",
    }

    /// Random numbers.
    RANDOM_CATEGORICAL = "random_categorical" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("mode", S).optional(), fixed("size", I).optional(),
                fixed("seed", I).optional(),
            ],
        ],
        infer: infer::elementwise::declared,
        not_run: "its result is random",
    }

    /// Random numbers.
    RANDOM_NORMAL = "random_normal" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("shape", I), fixed("mean", F).of(1).optional(), fixed("stddev", F).of(1).optional(),
                fixed("seed", I).optional(),
            ],
        ],
        infer: infer::elementwise::declared,
        not_run: "its result is random",
    }

    /// Random numbers.
    RANDOM_UNIFORM = "random_uniform" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("shape", I), fixed("low", F).of(1).optional(), fixed("high", F).of(1).optional(),
                fixed("seed", I).optional(),
            ],
        ],
        infer: infer::elementwise::declared,
        not_run: "its result is random",
    }
}
