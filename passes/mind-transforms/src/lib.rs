//! The passes: verify, canonicalize, cse, dce, fold, fuse,
//! unfuse, renumber, specialize.
//!
//! [`PASSES`] lists them; a new pass is a file with its row and a line there.

mod canonicalize;
mod cse;
mod dce;
mod eqsat;
mod names;
mod renumber;
mod rules;
mod specialize;
mod unfuse;
mod verify;

use mind_pass::PassInfo;

pub use names::{pattern_names, rewrite_names};
pub use rules::rules;
pub use specialize::{Known, specialize};

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[
    verify::PASS,
    canonicalize::PASS,
    eqsat::FOLD,
    eqsat::FUSE,
    unfuse::PASS,
    cse::PASS,
    dce::PASS,
    renumber::PASS,
    specialize::PASS,
];
