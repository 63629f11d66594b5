//! Lowering to the mil dialect, and a report of the ops that run on the neural engine.
//!
//! [`lower`] takes core and tensor ops, with one file for each family of ops. Floats become halves unless another dtype
//! is chosen; constants are cast once and checked for range. Ops that MIL cannot express are reported by name. [`ane`]
//! has the constraints of the neural engine as a table and reports the deciding one for each op.

mod affine;
pub mod ane;
mod attention;
mod broadcast;
mod cell;
mod compose;
mod config;
mod constant;
mod contract;
mod control;
mod conversion;
mod convolve;
mod counted;
mod dynamic;
mod elements;
mod elementwise;
mod emit;
mod empty;
mod flexible;
mod found;
mod fuse;
mod integers;
mod interface;
mod mask;
mod matching;
mod movement;
mod normalize;
mod pass;
mod places;
mod pool;
mod product;
mod quantize;
mod recognize;
mod recurrent;
mod reduce;
mod resize;
mod runtime_shape;
mod sample;
mod select;
mod shapes;
mod sorting;
mod split;
mod structured;
mod suppress;
mod suppressed;

pub use config::{Config, Extents, Layout};
pub use conversion::{Lowered, lower, lowers};
pub use interface::{Renamed, renamed, truth_values};
pub use pass::{PASS, config};

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
