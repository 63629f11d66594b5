//! The checked-in cost table.

use super::class::{CostClass, Inner};
use super::model::{CostModel, Level};

/// One core of a current x86-64 server: rounded from measured elementwise chains, normalisations and
/// matrix products of several sizes.
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
    contraction_peak: 180,
    scalar_peak: 60,
    unknown_extent: 128,
    op: 1,
    classes: CLASSES,
};

/// The ops whose work the op table does not tell.
pub const CLASSES: &[(&str, CostClass)] = &[
    ("core.reshape", CostClass::View),
    ("core.expand_dims", CostClass::View),
    ("core.squeeze", CostClass::View),
    ("core.transpose", CostClass::Permute),
    ("core.slice", CostClass::Move),
    ("core.split", CostClass::Move),
    ("core.index", CostClass::Lookup),
    ("core.concat", CostClass::Move),
    ("core.gather", CostClass::Lookup),
    ("core.sum", CostClass::Reduction),
    ("core.mean", CostClass::Reduction),
    ("core.max", CostClass::Reduction),
    ("core.softmax", CostClass::Normalisation),
    ("core.layernorm", CostClass::Normalisation),
    ("core.matmul", CostClass::Contraction(Inner::LastOfLhs)),
    ("core.dot", CostClass::Contraction(Inner::LastOfLhs)),
    (
        "core.conv2d",
        CostClass::Contraction(Inner::AllButLastOfRhs),
    ),
];
