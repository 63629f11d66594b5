//! Numbers on a scale, and compressed constants.

use crate::element::Element::{
    Fp16, Fp32, Int4, Int8, Uint1, Uint2, Uint3, Uint4, Uint6, Uint8, Uint32,
};
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{F, I, S, arg, fixed};

mil_ops! {
    /// `scale (quantized_data - zero_point)`, a constant.
    CONSTEXPR_AFFINE_DEQUANTIZE = "constexpr_affine_dequantize" {
        shapes: "as `quantized_data`",
        since: [
            Ios16 => [
                fixed("quantized_data", Elements::of(&[Int8, Uint8])).of(1),
                fixed("zero_point", Elements::of(&[Fp32, Int8, Uint8])).of(2), fixed("scale", F).of(3),
                fixed("axis", I),
            ],
        ],
        infer: infer::quantize::affine,
        eval: eval::rearrange::dequantized,
    }

    /// `scale (data - offset)` block by block, a constant.
    CONSTEXPR_BLOCKWISE_SHIFT_SCALE = "constexpr_blockwise_shift_scale" {
        shapes: "as `data`",
        since: [
            Ios18 => [
                fixed("data", Elements::of(&[Fp16, Fp32, Int4, Int8, Uint4, Uint8])).of(1),
                fixed("scale", F).of(2),
                fixed("offset", Elements::of(&[Fp16, Fp32, Int4, Int8, Uint4, Uint8])).of(3).optional(),
            ],
        ],
        infer: infer::quantize::blockwise,
        eval: eval::rearrange::dequantized,
    }

    /// A constant in another element type.
    CONSTEXPR_CAST = "constexpr_cast" {
        shapes: "as `source_val`",
        since: [
            Ios16 => [fixed("source_val", Elements::of(&[Fp16])), fixed("output_dtype", S)],
            Ios18 => [fixed("source_val", Elements::of(&[Fp16])), fixed("output_dtype", S)],
        ],
        infer: infer::quantize::cast,
        eval: eval::quantize::cast,
    }

    /// The entries of a table at `indices`, a constant.
    CONSTEXPR_LUT_TO_DENSE = "constexpr_lut_to_dense" {
        shapes: "`shape`, or that of `indices`",
        since: [
            Ios16 => [
                fixed("indices", Elements::of(&[Uint8])),
                fixed("lut", Elements::of(&[Fp16, Fp32, Int8, Uint8])).of(1),
                fixed("shape", Elements::of(&[Uint32])),
            ],
            Ios18 => [
                fixed("indices", Elements::of(&[Uint1, Uint2, Uint3, Uint4, Uint6, Uint8])).of(1),
                fixed("lut", Elements::of(&[Fp16, Fp32, Int8, Uint8])).of(2),
                fixed("vector_axis", I).optional(),
            ],
        ],
        infer: infer::quantize::lut,
        eval: eval::rearrange::lut,
    }

    /// A sparse constant from a compressed one.
    CONSTEXPR_LUT_TO_SPARSE = "constexpr_lut_to_sparse" {
        shapes: "as `indices_mask`; as `indices_nonzero_data`",
        since: [
            Ios18 => [
                fixed("indices_mask", Elements::of(&[Uint1])),
                fixed("indices_nonzero_data", Elements::of(&[Uint1, Uint2, Uint3, Uint4, Uint6, Uint8])).of(1),
                fixed("lut", Elements::of(&[Fp16, Fp32, Int8, Uint8])).of(2),
                fixed("vector_axis", I).optional(),
            ],
        ],
        results: Many,
        infer: infer::quantize::sparse_pair,
        eval: eval::quantize::looked_up,
    }

    /// A sparse constant from a compressed one.
    CONSTEXPR_SPARSE_BLOCKWISE_SHIFT_SCALE = "constexpr_sparse_blockwise_shift_scale" {
        shapes: "as `data_mask`; as `nonzero_data`",
        since: [
            Ios18 => [
                fixed("data_mask", Elements::of(&[Uint1])),
                fixed("nonzero_data", Elements::of(&[Fp16, Fp32, Int4, Int8, Uint4, Uint8])).of(1),
                fixed("scale", F).of(2),
                fixed("offset", Elements::of(&[Fp16, Fp32, Int4, Int8, Uint4, Uint8])).of(3).optional(),
            ],
        ],
        results: Many,
        infer: infer::quantize::sparse_pair,
        eval: eval::quantize::scaled,
    }

    /// Elements put where a mask has ones, a constant.
    CONSTEXPR_SPARSE_TO_DENSE = "constexpr_sparse_to_dense" {
        shapes: "`shape`, or that of `mask`",
        since: [
            Ios16 => [
                fixed("nonzero_data", Elements::of(&[Fp16, Fp32, Int8, Uint8])).of(1),
                fixed("mask", Elements::of(&[Uint8])), fixed("shape", Elements::of(&[Uint32])),
            ],
            Ios18 => [
                fixed("nonzero_data", Elements::of(&[Fp16, Fp32, Int4, Int8, Uint4, Uint8])).of(1),
                fixed("mask", Elements::of(&[Uint1])),
            ],
        ],
        infer: infer::quantize::sparse,
        eval: eval::quantize::dense,
    }

    /// Integers on a scale, as numbers.
    DEQUANTIZE = "dequantize" {
        shapes: "as `input`",
        since: [
            Ios17 => [
                arg("input", Elements::of(&[Int8, Uint8])).of(1),
                fixed("zero_point", Elements::of(&[Int8, Uint8])).of(1).optional(), fixed("scale", F).of(2),
                fixed("axis", I).optional(),
            ],
        ],
        infer: infer::quantize::dequantize,
        eval: eval::rearrange::dequantized,
    }

    /// `input` on a scale, as integers.
    QUANTIZE = "quantize" {
        shapes: "as `input`",
        since: [
            Ios17 => [
                arg("input", F).of(1), fixed("zero_point", Elements::of(&[Int8, Uint8])).of(2).optional(),
                fixed("scale", F).of(1), fixed("axis", I).optional(), fixed("output_dtype", S),
            ],
        ],
        infer: infer::quantize::quantize,
        eval: eval::quantize::quantize,
    }
}
