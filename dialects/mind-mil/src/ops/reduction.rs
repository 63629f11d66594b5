//! Reductions.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, I, N, S, arg, fixed};

mil_ops! {
    family: { shapes: "`axes` removed, or 1 with `keep_dims`; no `axes` means all", infer: infer::reduce::reduce, eval: eval::reduce::reduce }

    /// The position of the largest element along `axis`.
    REDUCE_ARGMAX = "reduce_argmax" {
        shapes: "`axis` removed, or 1 with `keep_dims`",
        since: [
            Ios15 => [arg("x", N).of(1), fixed("axis", I).int(-1), fixed("keep_dims", B).bool(false)],
            Ios17 => [
                arg("x", N).of(1), fixed("axis", I).int(-1), fixed("keep_dims", B).bool(false),
                fixed("output_dtype", S).word("int32"),
            ],
        ],
        infer: infer::reduce::position,
        eval: eval::reduce::position,
    }

    /// The position of the smallest element along `axis`.
    REDUCE_ARGMIN = "reduce_argmin" {
        shapes: "`axis` removed, or 1 with `keep_dims`",
        since: [
            Ios15 => [arg("x", N).of(1), fixed("axis", I).int(-1), fixed("keep_dims", B).bool(false)],
            Ios17 => [
                arg("x", N).of(1), fixed("axis", I).int(-1), fixed("keep_dims", B).bool(false),
                fixed("output_dtype", S).word("int32"),
            ],
        ],
        infer: infer::reduce::position,
        eval: eval::reduce::position,
    }

    /// The sum of magnitudes along `axes`.
    REDUCE_L1_NORM = "reduce_l1_norm" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The root of the sum of squares along `axes`.
    REDUCE_L2_NORM = "reduce_l2_norm" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The logarithm of the sum along `axes`.
    REDUCE_LOG_SUM = "reduce_log_sum" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The logarithm of the sum of `e^x` along `axes`.
    REDUCE_LOG_SUM_EXP = "reduce_log_sum_exp" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The largest element along `axes`.
    REDUCE_MAX = "reduce_max" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The mean along `axes`.
    REDUCE_MEAN = "reduce_mean" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The smallest element along `axes`.
    REDUCE_MIN = "reduce_min" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The product along `axes`.
    REDUCE_PROD = "reduce_prod" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The sum along `axes`.
    REDUCE_SUM = "reduce_sum" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }

    /// The sum of squares along `axes`.
    REDUCE_SUM_SQUARE = "reduce_sum_square" {
        since: [Ios15 => [arg("x", N).of(1), fixed("axes", I).optional(), fixed("keep_dims", B).bool(false)]],
    }
}
