//! Elements at places that a tensor gives.

use crate::element::Element::{Int16, Int32, Uint16};
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, I, N, S, WI, WN, arg, fixed};

mil_ops! {
    /// Slices of `x` along `axis` at `indices`.
    GATHER = "gather" {
        shapes: "`x[..axis] ++ indices[batch_dims..] ++ x[axis + 1..]`",
        since: [
            Ios15 => [arg("x", N).of(1), arg("indices", I), fixed("axis", I).int(0)],
            Ios16 => [
                arg("x", N).of(1), arg("indices", Elements::of(&[Int16, Int32, Uint16])).of(2),
                fixed("axis", I).int(0), fixed("batch_dims", I).int(0),
            ],
            Ios17 => [
                arg("x", WN).of(1), arg("indices", WI).of(2), fixed("axis", I).int(0),
                fixed("batch_dims", I).int(0), fixed("validate_indices", B).bool(false),
            ],
        ],
        infer: infer::gather::gather,
        eval: eval::movement::gather,
    }

    /// Elements of `x` at `indices` along `axis`.
    GATHER_ALONG_AXIS = "gather_along_axis" {
        shapes: "as `indices`",
        since: [
            Ios15 => [arg("x", N).of(1), arg("indices", I), fixed("axis", I).int(0)],
            Ios16 => [
                arg("x", N).of(1), arg("indices", Elements::of(&[Int16, Int32, Uint16])).of(2),
                fixed("axis", I).int(0),
            ],
            Ios17 => [
                arg("x", WN).of(1), arg("indices", WI).of(2), fixed("axis", I).int(0),
                fixed("validate_indices", B).bool(false),
            ],
        ],
        infer: infer::gather::along_axis,
        eval: eval::movement::along_axis,
    }

    /// Elements or slices of `x` at the tuples in `indices`.
    GATHER_ND = "gather_nd" {
        shapes: "`indices[..-1] ++ x[indices[-1]..]`",
        since: [
            Ios15 => [arg("x", N).of(1), arg("indices", I)],
            Ios16 => [
                arg("x", N).of(1), arg("indices", Elements::of(&[Int16, Int32, Uint16])).of(2),
                fixed("batch_dims", I).int(0),
            ],
            Ios17 => [
                arg("x", WN).of(1), arg("indices", WI).of(2), fixed("batch_dims", I).int(0),
                fixed("validate_indices", B).bool(false),
            ],
        ],
        infer: infer::gather::nd,
        eval: eval::place::nd,
    }

    /// `data`, the elements at `indices` replaced.
    SCATTER = "scatter" {
        shapes: "as `data`",
        since: [
            Ios15 => [
                arg("data", N).of(1), arg("indices", I), arg("updates", N).of(1),
                fixed("axis", I).optional(), fixed("mode", S).optional(),
            ],
            Ios17 => [
                arg("data", N).of(1), arg("indices", I), arg("updates", N).of(1),
                fixed("axis", I).optional(), fixed("mode", S).optional(),
                fixed("validate_indices", B).optional(),
            ],
        ],
        infer: infer::gather::scatter,
        eval: eval::scatter::slices,
    }

    /// `data`, the elements at `indices` replaced.
    SCATTER_ALONG_AXIS = "scatter_along_axis" {
        shapes: "as `data`",
        since: [
            Ios15 => [
                arg("data", N).of(1), arg("indices", I), arg("updates", N).of(1),
                fixed("axis", I).optional(), fixed("mode", S).optional(),
            ],
            Ios17 => [
                arg("data", N).of(1), arg("indices", I), arg("updates", N).of(1),
                fixed("axis", I).optional(), fixed("mode", S).optional(),
                fixed("validate_indices", B).optional(),
            ],
        ],
        infer: infer::gather::scatter,
        eval: eval::scatter::along_axis,
    }

    /// `data`, the elements at `indices` replaced.
    SCATTER_ND = "scatter_nd" {
        shapes: "as `data`",
        since: [
            Ios15 => [
                arg("data", N).of(1), arg("indices", I), arg("updates", N).of(1),
                fixed("mode", S).optional(),
            ],
            Ios17 => [
                arg("data", N).of(1), arg("indices", I), arg("updates", N).of(1),
                fixed("mode", S).optional(), fixed("validate_indices", B).optional(),
            ],
        ],
        infer: infer::gather::scatter,
        eval: eval::scatter::nd,
    }
}
