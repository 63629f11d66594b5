//! Block-quantised second operands.
//!
//! Panels keep the bits of the blocks, because such products are bandwidth-bound; only table levels become bytes, and
//! base-3 digits two bits each. Products of few rows dequantise in registers, between the multiply-adds; products of
//! many rows dequantise a strip of columns to scratch memory for all rows of a block. Both multiply by the number that
//! the format defines, rounded to `f32` as docs/formats/weights.md specifies, in ascending order of terms, so that
//! results are the same as after dequantising first.

mod decode;
mod format;
mod integers;
mod levels;
mod pack;
mod panels;

pub use pack::{QuantPacking, pack_quantised};
pub use panels::QuantPanels;

pub(super) use decode::{Multiply, Region, Spread, decode, moved, steps_bytes};
pub(super) use integers::{Factors, Part, Shape, TERMS, WORDS, parts, scaled};
