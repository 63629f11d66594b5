//! The lowering of the tensor dialect to the loops dialect.
//!
//! A unit (a group, or an op that stands alone) becomes kernels: `unit` turns ops into places and
//! kernels, `merge` makes one of those that read each other position by position, `block` of products with
//! rows between them, `emit` writes them as ops, `plan` gives their results places in memory.

mod block;
mod conversion;
mod emit;
mod kernel;
mod merge;
mod options;
mod pass;
mod place;
mod plan;
mod unit;

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
