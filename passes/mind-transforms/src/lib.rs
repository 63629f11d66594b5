//! Passes: verify, canonicalize, channels-last, cse, dce, simplify, renumber, specialize, unroll, quantize-activations.
//!
//! [`PASSES`] lists them. A new pass is a file with a `PassInfo` and a line in this list.

mod canonicalize;
mod channels_last;
mod cse;
mod dce;
mod names;
mod quantize_activations;
mod renumber;
mod rules;
mod simplify;
mod specialize;
mod unread;
mod unroll;
mod verify;

use mind_pass::PassInfo;

pub use canonicalize::canonical;
pub use mind_core::specialize::{Known, specialize};
pub use names::{pattern_names, rewrite_names};
pub use quantize_activations::{QuantizedCounts, quantize_activations};
pub use rules::{classes, rules, rules_for_module};

/// The passes of this crate.
pub const PASSES: &[PassInfo] = &[
    verify::PASS,
    canonicalize::PASS,
    channels_last::PASS,
    cse::PASS,
    dce::PASS,
    simplify::PASS,
    renumber::PASS,
    specialize::PASS,
    unroll::PASS,
    quantize_activations::PASS,
];
