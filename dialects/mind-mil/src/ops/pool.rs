//! Pools.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, F, I, S, arg, fixed};

mil_ops! {
    /// The mean of the elements under a window.
    AVG_POOL = "avg_pool" {
        shapes: "`[N, C, ..]`, as the window rule says",
        since: [
            Ios15 => [
                fixed("exclude_padding_from_average", B).bool(false), arg("x", F).of(1),
                fixed("kernel_sizes", I), fixed("strides", I).optional(), fixed("pad_type", S),
                fixed("pad", I).optional(), fixed("ceil_mode", B).bool(false),
            ],
        ],
        infer: infer::window::pool,
        eval: eval::window::pool,
    }

    /// The root of the sum of squares under a window.
    L2_POOL = "l2_pool" {
        shapes: "`[N, C, ..]`, as the window rule says",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("kernel_sizes", I), fixed("strides", I).optional(),
                fixed("pad_type", S), fixed("pad", I).optional(), fixed("ceil_mode", B).bool(false),
            ],
        ],
        infer: infer::window::pool,
        eval: eval::window::pool,
    }

    /// The largest element under a window.
    MAX_POOL = "max_pool" {
        shapes: "`[N, C, ..]`, as the window rule says",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("kernel_sizes", I), fixed("strides", I).optional(),
                fixed("pad_type", S), fixed("pad", I).optional(), fixed("ceil_mode", B).bool(false),
            ],
        ],
        infer: infer::window::pool,
        eval: eval::window::pool,
    }
}
