//! The lowering of the core dialect to the tensor dialect.
//!
//! Each file has one family of ops. [`lower`] replaces one op at a time and keeps types, labels and bits. Broadcasts
//! become explicit, arithmetic becomes `tensor.map` and fused ops become `tensor.group`; constants, inputs and outputs
//! are kept.

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

/// The passes of this crate.
pub const PASSES: &[PassInfo] = &[pass::PASS];
