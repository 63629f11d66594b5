//! The lowering of the core dialect to the tensor dialect.
//!
//! One file per family of ops; [`lower`] replaces op by op and keeps types, labels and bits. Broadcasts
//! are written out, arithmetic becomes `tensor.map`, fused ops become `tensor.group`; constants, inputs
//! and outputs stay.

mod argmax;
mod argmax_window;
mod broadcast;
mod contract;
mod conversion;
mod convolve;
mod dynamic;
mod elementwise;
mod emit;
mod gather;
mod interpolate;
mod join;
mod known;
mod movement;
mod normalize;
mod packed;
mod pad;
mod pass;
mod product;
mod quantize;
mod reduce;
mod replace;
mod reshape;
mod resize;
mod scan;
mod window;

pub use conversion::{Options, lower, lowers, lowers_if_known};

pub use pass::DOT_BYTES;

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
