//! Type rules, by family.

pub mod contract;
pub mod control;
pub mod elementwise;
pub mod gather;
pub mod image;
pub mod movement;
pub mod normalize;
pub mod quantize;
pub mod reduce;
mod rule;
pub mod sample;
pub mod slice;
pub mod space;
pub mod window;
