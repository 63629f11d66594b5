//! The lowering to the mil dialect, and what of it runs on the neural engine.
//!
//! [`lower`] takes core and tensor ops, one file a family. Floats become halves, constants cast once and
//! their ranges checked; what MIL cannot say is refused by name. [`ane`] holds the constraints of the
//! neural engine as rows and reports which of them decides for each op.

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
pub use interface::{Renamed, renamed};
pub use pass::{PASS, config};

use mind_pass::PassInfo;

/// The rows of this crate's passes.
pub const PASSES: &[PassInfo] = &[pass::PASS];
