//! The lowering of the tensor dialect to the loops dialect.
//!
//! A group, or a single op, becomes kernels: `lowering` converts layout-only ops to strided views, `steps` describes
//! ops to the fusion rules, `fuse` builds fused kernels, `emit` emits kernels as ops, and `plan` assigns their results
//! offsets in the workspace.

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

/// The passes of this crate.
pub const PASSES: &[PassInfo] = &[pass::PASS];
