//! The lowering of the tensor dialect to the loops dialect.
//!
//! A group, or an op that stands alone, becomes kernels: `lowering` turns views into places, `steps` says what one kernel
//! can hold, `fuse` makes it, `emit` writes kernels as ops, `plan` gives their results places in memory.

mod conversion;
mod emit;
mod fuse;
mod kernel;
mod lowering;
mod options;
mod pass;
mod plan;
mod steps;
mod strided;

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
