//! The lowering of the tensor dialect to the loops dialect.
//!
//! A group, or an op that stands alone, becomes kernels: `unit` turns views into places, `steps` says what one kernel
//! can hold, `fuse` makes it, `emit` writes kernels as ops, `plan` gives their results places in memory.

mod conversion;
mod emit;
mod fuse;
mod kernel;
mod options;
mod pass;
mod place;
mod plan;
mod steps;
mod unit;

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
