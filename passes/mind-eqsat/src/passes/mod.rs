//! The passes of this crate.

mod fold;
mod unfuse;

use mind_pass::PassInfo;

/// The passes of this crate.
pub const PASSES: &[PassInfo] = &[fold::FOLD, fold::FUSE, unfuse::PASS];
