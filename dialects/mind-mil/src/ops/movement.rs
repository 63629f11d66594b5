//! The same elements in another order or shape.

use crate::element::Element::Uint32;
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{A, B, F, I, Kind, N, SI, WA, arg, fixed, other};

mil_ops! {
    /// Blocks of the batch spread over space.
    BATCH_TO_SPACE = "batch_to_space" {
        shapes: "`[N, C, H, W] -> [N / (p q), C, H p - crops, W q - crops]`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("block_shape", I), fixed("crops", I)],
        ],
        infer: infer::space::from_batch,
        eval: eval::space::from_batch,
    }

    /// Blocks of channels spread over height and width.
    DEPTH_TO_SPACE = "depth_to_space" {
        shapes: "`[N, C, H, W] -> [N, C / b^2, H b, W b]`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("block_size", I)],
        ],
        infer: infer::movement::depth_to_space,
        eval: eval::rearrange::blocks,
    }

    /// New dimensions of extent 1.
    EXPAND_DIMS = "expand_dims" {
        shapes: "1 at `axes` of the result",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("axes", I)],
            Ios17 => [arg("x", WA).of(1), fixed("axes", I)],
        ],
        infer: infer::movement::expand,
        eval: eval::movement::renamed,
    }

    /// Groups of channels spread over height and width.
    PIXEL_SHUFFLE = "pixel_shuffle" {
        shapes: "`[N, C, H, W] -> [N, C / f^2, H f, W f]`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("upscale_factor", I)],
        ],
        infer: infer::movement::depth_to_space,
        eval: eval::rearrange::blocks,
    }

    /// Blocks of height and width as groups of channels.
    PIXEL_UNSHUFFLE = "pixel_unshuffle" {
        shapes: "`[N, C, H, W] -> [N, C f^2, H / f, W / f]`",
        since: [
            Ios16 => [arg("x", F).of(1), fixed("downscale_factor", Elements::of(&[Uint32]))],
        ],
        infer: infer::movement::space_to_depth,
        eval: eval::rearrange::blocks,
    }

    /// The same elements in `shape`.
    RESHAPE = "reshape" {
        shapes: "`shape`, where -1 is whatever is left and 0 copies an extent",
        since: [
            Ios15 => [arg("x", A).of(1), arg("shape", I)],
            Ios17 => [arg("x", WA).of(1), arg("shape", SI).of(2)],
        ],
        infer: infer::movement::reshape,
        eval: eval::movement::reshape,
    }

    /// The same elements in a shape put together from other tensors.
    RESHAPE_LIKE = "reshape_like" {
        shapes: "the extents that `ref_tensors` have from `begins` to `ends`",
        since: [
            Ios16 => [
                arg("x", A).of(1), other("ref_tensors", Kind::Tuple), other("begins", Kind::Tuple),
                other("ends", Kind::Tuple), other("end_masks", Kind::Tuple),
            ],
            Ios17 => [
                arg("x", WA).of(1), other("ref_tensors", Kind::Tuple), other("begins", Kind::Tuple),
                other("ends", Kind::Tuple), other("end_masks", Kind::Tuple),
            ],
        ],
        infer: infer::movement::reshape_like,
        eval: eval::movement::renamed,
    }

    /// The other way round along `axes`.
    REVERSE = "reverse" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("axes", I).optional()],
            Ios17 => [arg("x", WA).of(1), fixed("axes", I).optional()],
        ],
        infer: infer::elementwise::along_axes,
        eval: eval::movement::reverse,
    }

    /// The first `lengths` elements of each sequence the other way round.
    REVERSE_SEQUENCE = "reverse_sequence" {
        shapes: "as `x`",
        since: [
            Ios15 => [
                arg("x", A).of(1), arg("lengths", I), fixed("seq_axis", I).optional(),
                fixed("batch_axis", I).optional(),
            ],
            Ios17 => [
                arg("x", WA).of(1), arg("lengths", SI).of(2), fixed("seq_axis", I).optional(),
                fixed("batch_axis", I).optional(),
            ],
        ],
        infer: infer::elementwise::same,
        eval: eval::space::reverse,
    }

    /// The elements from `begin` to below `end`, every `stride`-th.
    SLICE_BY_INDEX = "slice_by_index" {
        shapes: "`ceil((end - begin) / stride)`, dimensions of `squeeze_mask` removed",
        since: [
            Ios15 => [
                arg("x", A).of(1), arg("begin", I), arg("end", I), fixed("stride", I).optional(),
                fixed("begin_mask", B).optional(), fixed("end_mask", B).optional(),
                fixed("squeeze_mask", B).optional(),
            ],
            Ios17 => [
                arg("x", WA).of(1), arg("begin", SI).of(2), arg("end", SI).of(2),
                fixed("stride", SI).of(2).optional(), fixed("begin_mask", B).optional(),
                fixed("end_mask", B).optional(), fixed("squeeze_mask", B).optional(),
            ],
        ],
        infer: infer::slice::by_index,
        eval: eval::movement::by_index,
    }

    /// `size` elements from `begin`.
    SLICE_BY_SIZE = "slice_by_size" {
        shapes: "`size`, where -1 is the rest",
        since: [
            Ios15 => [arg("x", A).of(1), arg("begin", I), arg("size", I)],
            Ios17 => [arg("x", WA).of(1), arg("begin", SI).of(2), arg("size", SI).of(2)],
        ],
        infer: infer::slice::by_size,
        eval: eval::movement::by_size,
    }

    /// `x`, the elements of a slice replaced by `update`.
    SLICE_UPDATE = "slice_update" {
        shapes: "as `x`",
        since: [
            Ios18 => [
                arg("x", WA).of(1), arg("update", WA).of(1), arg("begin", SI).of(2), arg("end", SI).of(2),
                fixed("stride", SI).of(2).optional(), fixed("begin_mask", B).optional(),
                fixed("end_mask", B).optional(), fixed("squeeze_mask", B).optional(),
            ],
        ],
        infer: infer::slice::update,
        eval: eval::place::update,
    }

    /// Overlapping pieces along `axis`.
    SLIDING_WINDOWS = "sliding_windows" {
        shapes: "`x[..axis] ++ [windows, size] ++ x[axis + 1..]`",
        since: [
            Ios15 => [arg("x", N).of(1), fixed("axis", I), fixed("size", I), fixed("stride", I).optional()],
            Ios17 => [
                arg("x", WA).of(1), fixed("axis", I), fixed("size", I), fixed("stride", I).optional(),
            ],
        ],
        infer: infer::space::sliding,
        eval: eval::space::sliding,
    }

    /// Blocks of space as batch.
    SPACE_TO_BATCH = "space_to_batch" {
        shapes: "`[N, C, H, W] -> [N p q, C, (H + paddings) / p, (W + paddings) / q]`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("block_shape", I), fixed("paddings", I)],
        ],
        infer: infer::space::to_batch,
        eval: eval::space::to_batch,
    }

    /// Blocks of height and width as channels.
    SPACE_TO_DEPTH = "space_to_depth" {
        shapes: "`[N, C, H, W] -> [N, C b^2, H / b, W / b]`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("block_size", I)],
        ],
        infer: infer::movement::space_to_depth,
        eval: eval::rearrange::blocks,
    }

    /// Dimensions of extent 1 removed.
    SQUEEZE = "squeeze" {
        shapes: "without `axes`",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("axes", I).optional()],
            Ios17 => [arg("x", WA).of(1), fixed("axes", I).optional()],
        ],
        infer: infer::movement::squeeze,
        eval: eval::movement::renamed,
    }

    /// The dimensions in the order of `perm`.
    TRANSPOSE = "transpose" {
        shapes: "`result[i] = x[perm[i]]`",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("perm", I)],
            Ios17 => [arg("x", WA).of(1), fixed("perm", I)],
        ],
        infer: infer::movement::transpose,
        eval: eval::movement::transpose,
    }
}
