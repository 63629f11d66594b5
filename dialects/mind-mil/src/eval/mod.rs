//! Evaluation of ops, by family.
//!
//! Ops that core has too are computed like core's. The others are computed in `f32` and rounded once to the dtype.

pub mod contract;
pub mod control;
pub mod elementwise;
pub(crate) mod exponential;
mod kernel;
pub mod movement;
pub mod normalize;
pub mod place;
pub mod quantize;
mod ranges;
pub mod rearrange;
pub mod recurrent;
pub mod reduce;
pub mod resize;
pub mod scatter;
pub mod space;
pub mod spread;
mod whole;
pub mod window;
