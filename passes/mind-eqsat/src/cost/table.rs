//! The checked-in cost table. Compilation measures nothing.

use super::class::{CostClass, Inner};
use super::model::{CostModel, Level};
use mind_rules::Channels;

/// One core of a server with AVX-512: 48 KiB of L1, 2 MiB of L2 and 32 MiB of shared L3 cache.
///
/// | number | source |
/// |---|---|
/// | `launch` | an empty kernel: call, arguments, loop set-up |
/// | `bandwidth` | bytes read and written by `c = a + b` on arrays that just fit each level |
/// | `product_peak` | half the 358 GFLOP/s of two 16-lane multiply-adds per cycle at 2.8 GHz: what blocked products from 32x768x768 to 512x512x512 reach |
/// | `convolution_peak` | two thirds of that: 3x3 windows, 16 to 64 channels |
/// | `scalar_peak` | additions of 16 lanes at 3.75 per nanosecond, all data in the first level |
/// | [`CLASSES`], normalisations | the ops of the decomposed form, weighted by their cost |
///
/// Values are rounded medians, because costs are only compared.
pub const HOST_CPU: CostModel = CostModel {
    launch: 100_000,
    levels: &[
        Level {
            capacity: 48 << 10,
            bandwidth: 110,
        },
        Level {
            capacity: 2 << 20,
            bandwidth: 85,
        },
        Level {
            capacity: 32 << 20,
            bandwidth: 45,
        },
        Level {
            capacity: u64::MAX,
            bandwidth: 28,
        },
    ],
    product_peak: 180,
    convolution_peak: 120,
    scalar_peak: 60,
    row_block: 64,
    unknown_extent: 128,
    op: 1,
    channels: Channels::Last,
    classes: CLASSES,
};

/// The same machine for programs exported as MIL, whose convolutions have their channels second.
pub const CHANNELS_FIRST: CostModel = CostModel {
    channels: Channels::First,
    ..HOST_CPU
};

/// The cost classes that traits do not determine.
pub const CLASSES: &[(&str, CostClass)] = &[
    ("core.reshape", CostClass::View),
    ("core.expand_dims", CostClass::View),
    ("core.squeeze", CostClass::View),
    ("core.transpose", CostClass::Permute),
    ("core.reverse", CostClass::Lookup),
    ("core.bitcast", CostClass::Lookup),
    ("core.pad", CostClass::Lookup),
    ("core.broadcast_to", CostClass::Move),
    ("core.iota", CostClass::Move),
    ("core.dim", CostClass::Lookup),
    ("core.slice", CostClass::Move),
    ("core.split", CostClass::Move),
    ("core.index", CostClass::Lookup),
    ("core.concat", CostClass::Move),
    ("core.gather", CostClass::Lookup),
    ("core.dynamic_slice", CostClass::Lookup),
    ("core.dynamic_update_slice", CostClass::Lookup),
    ("core.gather_elements", CostClass::Lookup),
    ("core.gather_nd", CostClass::Lookup),
    ("core.scatter_elements", CostClass::Lookup),
    ("core.scatter_nd", CostClass::Lookup),
    ("core.sum", CostClass::Reduction),
    ("core.mean", CostClass::Reduction),
    ("core.max", CostClass::Reduction),
    ("core.min", CostClass::Reduction),
    ("core.prod", CostClass::Reduction),
    ("core.cumulative", CostClass::Reduction),
    ("core.argmax", CostClass::Reduction),
    ("core.argmin", CostClass::Reduction),
    ("core.reduce_window", CostClass::Reduction),
    ("core.argmax_window", CostClass::Reduction),
    ("core.resize", CostClass::Lookup),
    ("core.grid_sample", CostClass::Lookup),
    ("core.nonzero", CostClass::Lookup),
    ("core.dynamic_reshape", CostClass::Lookup),
    ("core.dynamic_broadcast_to", CostClass::Lookup),
    ("core.dynamic_iota", CostClass::Lookup),
    ("core.unique", CostClass::Normalisation(40)),
    ("core.non_max_suppression", CostClass::Lookup),
    ("core.sort", CostClass::Normalisation(40)),
    ("core.top_k", CostClass::Normalisation(40)),
    ("core.softmax", CostClass::Normalisation(20)),
    ("core.layernorm", CostClass::Normalisation(8)),
    ("core.matmul", CostClass::Contraction(Inner::LastOfLhs)),
    ("core.dot", CostClass::Contraction(Inner::LastOfLhs)),
    ("core.dot_general", CostClass::Product),
    ("core.cholesky", CostClass::Product),
    ("core.triangular_solve", CostClass::Product),
    ("core.quantize", CostClass::Scaled(4)),
    ("core.dequantize", CostClass::Scaled(2)),
    ("core.conv", CostClass::Convolution),
    ("core.conv_transpose", CostClass::Convolution),
    (
        "core.conv2d",
        CostClass::Contraction(Inner::AllButLastOfRhs),
    ),
];
