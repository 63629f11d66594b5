//! Joining, splitting, filling and sorting.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{A, B, F, I, Kind, N, S, SI, WN, arg, fixed, other};

mil_ops! {
    /// The order that sorts `x` along `axis`.
    ARGSORT = "argsort" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", N).of(1), fixed("axis", I).int(-1), fixed("ascending", B).bool(false)],
        ],
        infer: infer::reduce::argsort,
        eval: eval::rearrange::argsort,
    }

    /// A band around the diagonal, 0 elsewhere.
    BAND_PART = "band_part" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("lower", I).optional(), fixed("upper", I).optional()],
        ],
        infer: infer::elementwise::same,
        eval: eval::place::band,
    }

    /// The `values` one after the other along `axis`.
    CONCAT = "concat" {
        shapes: "their extents along `axis` added up",
        since: [
            Ios15 => [other("values", Kind::Tuple), fixed("axis", I), fixed("interleave", B).bool(false)],
        ],
        infer: infer::movement::concat,
        eval: eval::movement::concat,
    }

    /// Partial sums along `axis`.
    CUMSUM = "cumsum" {
        shapes: "as `x`",
        since: [
            Ios15 => [
                arg("x", N).of(1), fixed("axis", I).int(0), fixed("exclusive", B).bool(false),
                fixed("reverse", B).bool(false),
            ],
        ],
        infer: infer::elementwise::along,
        eval: eval::reduce::cumsum,
    }

    /// One value everywhere.
    FILL = "fill" {
        shapes: "`shape`",
        since: [
            Ios15 => [arg("shape", I), fixed("value", A).of(1).optional()],
        ],
        infer: infer::elementwise::filled,
        eval: eval::rearrange::fill,
    }

    /// One value everywhere, in the shape of another tensor.
    FILL_LIKE = "fill_like" {
        shapes: "as `ref_tensor`",
        since: [
            Ios16 => [arg("ref_tensor", A).of(1), fixed("value", A).of(2).optional()],
        ],
        infer: infer::elementwise::filled_like,
        eval: eval::rearrange::fill_like,
    }

    /// The dimensions before `axis` as one, those from `axis` on as another.
    FLATTEN2D = "flatten2d" {
        shapes: "rank 2",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("axis", I).int(1)],
        ],
        infer: infer::movement::flatten,
        eval: eval::movement::renamed,
    }

    /// `x` itself.
    IDENTITY = "identity" {
        shapes: "as `x`",
        since: [
            Ios15 => [other("x", Kind::Any)],
        ],
        infer: infer::movement::identity,
        eval: eval::movement::identity,
    }

    /// Boxes that overlap no better one.
    NON_MAXIMUM_SUPPRESSION = "non_maximum_suppression" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("boxes", F).of(1), arg("scores", F).of(1), fixed("iou_threshold", F).of(1),
                fixed("score_threshold", F).of(1), fixed("max_boxes", I),
                fixed("per_class_suppression", B).optional(),
            ],
            Ios17 => [
                arg("boxes", F).of(1), arg("scores", F).of(1), fixed("iou_threshold", F).of(1),
                fixed("max_boxes", I), fixed("per_class_suppression", B).optional(),
            ],
        ],
        results: Many,
        infer: infer::elementwise::declared,
        not_run: "its reference leaves open which of two equal boxes stays",
    }

    /// The places of the elements that are not 0.
    NON_ZERO = "non_zero" {
        shapes: "as declared",
        since: [
            Ios15 => [arg("x", A).of(1)],
        ],
        infer: infer::gather::non_zero,
        eval: eval::scatter::non_zero,
    }

    /// 1 at the place of each index, 0 elsewhere.
    ONE_HOT = "one_hot" {
        shapes: "`indices`, with `one_hot_vector_size` at `axis`",
        since: [
            Ios15 => [
                arg("indices", I), arg("one_hot_vector_size", I), fixed("axis", I).optional(),
                fixed("on_value", A).of(1).optional(), fixed("off_value", A).of(1).optional(),
            ],
        ],
        infer: infer::elementwise::one_hot,
        eval: eval::place::one_hot,
    }

    /// Grown at both ends of the last dimensions.
    PAD = "pad" {
        shapes: "`x` plus pairs of `pad`",
        since: [
            Ios15 => [
                arg("x", F).of(1), arg("pad", I), fixed("mode", S).word("constant"),
                fixed("constant_val", F).of(1).float(0.0),
            ],
        ],
        infer: infer::movement::pad,
        eval: eval::movement::pad,
    }

    /// The numbers from `start` to below `end` in steps.
    RANGE_1D = "range_1d" {
        shapes: "`[ceil((end - start) / step)]`",
        since: [
            Ios15 => [arg("end", N).of(1), arg("start", N).of(1), arg("step", N).of(1)],
        ],
        infer: infer::elementwise::range,
        eval: eval::rearrange::range,
    }

    /// The extents of `x`.
    SHAPE = "shape" {
        shapes: "`[rank]`",
        since: [
            Ios15 => [arg("x", A).of(1)],
        ],
        infer: infer::elementwise::shape,
        eval: eval::rearrange::shape,
    }

    /// Pieces along `axis`.
    SPLIT = "split" {
        shapes: "`x`, with the extent of each piece along `axis`",
        since: [
            Ios15 => [
                arg("x", A).of(1), fixed("num_splits", I).optional(), fixed("split_sizes", I).optional(),
                fixed("axis", I),
            ],
        ],
        results: Many,
        infer: infer::movement::split,
        eval: eval::movement::split,
    }

    /// The `values` along a new dimension.
    STACK = "stack" {
        shapes: "their number at `axis`",
        since: [
            Ios15 => [other("values", Kind::Tuple), fixed("axis", I)],
        ],
        infer: infer::movement::stack,
        eval: eval::movement::stack,
    }

    /// Repeated along each dimension.
    TILE = "tile" {
        shapes: "`x` times `reps`",
        since: [
            Ios15 => [arg("x", A).of(1), arg("reps", I)],
        ],
        infer: infer::movement::tile,
        eval: eval::movement::tile,
    }

    /// The `k` largest elements along `axis`, or smallest, and their indices.
    TOPK = "topk" {
        shapes: "`x` with `k` along `axis`, twice",
        since: [
            Ios15 => [
                arg("x", N).of(1), fixed("k", I).int(1), fixed("axis", I).int(-1),
                fixed("ascending", B).bool(false),
            ],
            Ios16 => [
                arg("x", N).of(1), fixed("k", I).int(1), fixed("axis", I).int(-1),
                fixed("ascending", B).bool(false), fixed("sort", B).bool(true),
                fixed("return_indices", B).bool(true),
            ],
            Ios17 => [
                arg("x", WN).of(1), fixed("k", SI).of(2).int(1), fixed("axis", I).int(-1),
                fixed("ascending", B).bool(false), fixed("sort", B).bool(true),
                fixed("return_indices", B).bool(true), fixed("output_indices_dtype", S).optional(),
            ],
        ],
        results: Many,
        infer: infer::reduce::topk,
        eval: eval::rearrange::topk,
    }
}
