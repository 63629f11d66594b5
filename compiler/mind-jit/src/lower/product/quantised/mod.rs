//! Second operands whose numbers are stored in blocks of a few bits each.
//!
//! Panels keep the bits of the blocks, so that memory is read at their width; levels of a table become bytes, and digits in
//! base 3 two bits each. A product of few rows decodes
//! numbers in registers, between the multiply-adds; one of many rows decodes a strip of columns to scratch
//! memory for all rows of a block. Both multiply by the number that the format stands for, rounded to `f32` as
//! docs/formats/weights.md says, in ascending order of terms: results are those of decoding first.

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
