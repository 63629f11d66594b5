//! Cranelift's types of lanes and vectors.

use cranelift_codegen::ir::{self, types};

use crate::ir::Lane;

/// A lane as a type of its own.
pub(super) const fn element(lane: Lane) -> ir::Type {
    match lane {
        Lane::I8 => types::I8,
        Lane::I16 => types::I16,
        Lane::I32 => types::I32,
        Lane::I64 => types::I64,
        Lane::F32 => types::F32,
        Lane::F64 => types::F64,
    }
}

/// 128 bits of a lane.
pub(super) const fn vector(lane: Lane) -> ir::Type {
    match lane {
        Lane::I8 => types::I8X16,
        Lane::I16 => types::I16X8,
        Lane::I32 => types::I32X4,
        Lane::I64 => types::I64X2,
        Lane::F32 => types::F32X4,
        Lane::F64 => types::F64X2,
    }
}
