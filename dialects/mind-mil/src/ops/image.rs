//! Images.

use crate::element::Element::{Fp16, Fp32, Int16, Int32, Uint16, Uint32};
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, F, I, N, S, WN, arg, fixed};

mil_ops! {
    /// An image at other coordinates.
    AFFINE = "affine" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("x", F).of(1), arg("transform_matrix", F).of(1), fixed("output_height", I),
                fixed("output_width", I), fixed("sampling_mode", S), fixed("padding_mode", S),
                fixed("padding_value", F).of(1), fixed("coordinates_mode", S), fixed("align_corners", B),
            ],
        ],
        infer: infer::elementwise::declared,
        not_run: "its reference leaves open how coordinates between pixels are rounded",
    }

    /// Height and width cut at both ends.
    CROP = "crop" {
        shapes: "the last two dimensions less the cuts",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("crop_height", I), fixed("crop_width", I)],
        ],
        infer: infer::image::crop,
        eval: eval::resize::crop,
    }

    /// Regions of an image, resized.
    CROP_RESIZE = "crop_resize" {
        shapes: "as declared",
        since: [
            Ios15 => [
                arg("x", F).of(1), arg("roi", F).of(1), fixed("target_height", I).optional(),
                fixed("target_width", I).optional(), fixed("normalized_coordinates", B).optional(),
                fixed("spatial_scale", Elements::of(&[Fp32])).optional(),
                fixed("box_coordinate_mode", S).optional(), fixed("sampling_mode", S).optional(),
            ],
            Ios16 => [
                arg("x", F).of(1), arg("roi", F).of(1), fixed("target_height", I).optional(),
                fixed("target_width", I).optional(), fixed("normalized_coordinates", B).optional(),
                fixed("spatial_scale", Elements::of(&[Fp32])).optional(),
                fixed("box_coordinate_mode", S).optional(), fixed("sampling_mode", S).optional(),
                fixed("pad_value", F).of(1).optional(),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("boxes", Elements::of(&[Fp16, Fp32, Uint16])).of(2),
                arg("box_indices", Elements::of(&[Int32, Uint16])).of(3).optional(),
                fixed("target_height", I).optional(), fixed("target_width", I).optional(),
                fixed("normalized_coordinates", B).optional(),
                fixed("spatial_scale", Elements::of(&[Fp32])).optional(),
                fixed("box_coordinate_mode", S).optional(), fixed("sampling_mode", S).optional(),
                fixed("pad_value", F).of(1).optional(),
            ],
        ],
        infer: infer::elementwise::declared,
        not_run: "its reference leaves open how regions beyond the image are sampled",
    }

    /// An image at other coordinates.
    RESAMPLE = "resample" {
        shapes: "`x` with the positions of `coordinates` for height and width",
        since: [
            Ios15 => [
                arg("x", F).of(1), arg("coordinates", Elements::of(&[Fp32, Int32])).of(2),
                fixed("sampling_mode", S), fixed("padding_mode", S), fixed("padding_value", F).of(1),
                fixed("coordinates_mode", S), fixed("align_corners", B),
            ],
            Ios16 => [
                arg("x", F).of(1), arg("coordinates", N).of(2), fixed("sampling_mode", S),
                fixed("padding_mode", S), fixed("padding_value", F).of(1), fixed("coordinates_mode", S),
                fixed("align_corners", B),
            ],
            Ios17 => [
                arg("x", F).of(1), arg("coordinates", WN).of(2), fixed("sampling_mode", S),
                fixed("padding_mode", S), fixed("padding_value", F).of(1), fixed("coordinates_mode", S),
                fixed("align_corners", B),
            ],
        ],
        infer: infer::image::resample,
        eval: eval::resize::resample,
    }

    /// Some of the last dimensions resized.
    RESIZE = "resize" {
        shapes: "the last `resized_dims` dimensions as `shape` names them, 0 as they are",
        since: [
            Ios17 => [
                arg("x", N).of(1), arg("shape", Elements::of(&[Int16, Int32, Uint16, Uint32])).of(2),
                fixed("resized_dims", Elements::of(&[Uint32])), fixed("interpolation_mode", S).optional(),
                fixed("sampling_mode", S).optional(),
            ],
        ],
        infer: infer::image::resize,
        eval: eval::resize::resized,
    }

    /// Height and width resized.
    RESIZE_BILINEAR = "resize_bilinear" {
        shapes: "the last two dimensions as named",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("target_size_height", I).optional(),
                fixed("target_size_width", I).optional(), fixed("sampling_mode", S).optional(),
            ],
        ],
        infer: infer::image::target,
        eval: eval::resize::resized,
    }

    /// Height and width resized.
    RESIZE_NEAREST_NEIGHBOR = "resize_nearest_neighbor" {
        shapes: "the last two dimensions as named",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("target_size_height", I), fixed("target_size_width", I)],
        ],
        infer: infer::image::target,
        eval: eval::resize::resized,
    }

    /// Height and width multiplied.
    UPSAMPLE_BILINEAR = "upsample_bilinear" {
        shapes: "the last two dimensions times the factors",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("scale_factor_height", Elements::of(&[Fp32, Int32])).of(2).int(1),
                fixed("scale_factor_width", Elements::of(&[Fp32, Int32])).of(2).int(1),
                fixed("align_corners", B).bool(true),
            ],
            Ios16 => [
                arg("x", F).of(1), fixed("scale_factor_height", Elements::of(&[Fp32, Int32])).of(2).int(1),
                fixed("scale_factor_width", Elements::of(&[Fp32, Int32])).of(2).int(1),
                fixed("align_corners", B).bool(true), fixed("half_pixel_centers", B).optional(),
            ],
        ],
        infer: infer::image::upsample,
        eval: eval::resize::resized,
    }

    /// Height and width multiplied.
    UPSAMPLE_NEAREST_NEIGHBOR = "upsample_nearest_neighbor" {
        shapes: "the last two dimensions times the factors",
        since: [
            Ios15 => [
                arg("x", F).of(1), fixed("scale_factor_height", Elements::of(&[Fp32, Int32])).of(2).int(1),
                fixed("scale_factor_width", Elements::of(&[Fp32, Int32])).of(2).int(1),
            ],
        ],
        infer: infer::image::upsample,
        eval: eval::resize::resized,
    }
}
