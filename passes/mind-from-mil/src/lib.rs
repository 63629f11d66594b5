//! Importer of the mil dialect to core and tensor ops.
//!
//! [`import`] converts a MIL program to a module that all passes and the compiled engine accept, with one file for each
//! family of ops. Ops that MIL computes in `f32` and rounds once are imported with the same rounding. Ops without an
//! import are reported; [`imports`] tells which ops have one, and [`left_out`] lists the parts of a program that the
//! module does not keep.

mod cell;
mod comparison;
mod compose;
mod constant;
mod contract;
mod control;
mod conv;
mod conversion;
mod elementwise;
mod emit;
mod gather;
mod interface;
mod left_out;
mod movement;
mod normalize;
mod open;
mod pass;
mod place;
mod pool;
mod quantize;
mod recurrent;
mod reduce;
mod refuse;
mod regions;
mod runtime_part;
mod runtime_shape;
mod slice;
mod sorting;
mod space;
mod suppress;
mod without;

pub use conversion::{import, imports};
pub use left_out::left_out;
pub use without::not_imported;

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
