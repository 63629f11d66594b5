//! The passes of this crate.

mod fold;
mod unfuse;

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[fold::FOLD, fold::FUSE, unfuse::PASS];
