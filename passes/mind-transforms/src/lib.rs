//! The passes: verify, canonicalize, fold, fuse, unfuse, cse, dce, simplify, renumber, specialize.
//!
//! [`PASSES`] lists them; a new pass is a file with its row and a line there.

mod canonicalize;
mod cse;
mod dce;
mod eqsat;
mod names;
mod renumber;
mod rules;
mod simplify;
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
    simplify::PASS,
    renumber::PASS,
    specialize::PASS,
];
