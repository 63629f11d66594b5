//! The import of the mil dialect into core and tensor ops.
//!
//! [`import`] turns a program of MIL into a module that every pass and the compiled engine take, one file a
//! family of ops. What MIL computes in `f32` and rounds once is written out in the same way. Ops without a counterpart are
//! named; [`imports`] says which have one, and [`left_out`] what of a program a module of core does not keep.

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
