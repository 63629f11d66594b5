//! Drawings of the e-graph of a region.

mod dot;
mod layout;
mod picture;
mod svg;

pub use picture::Picture;
pub(crate) use picture::picture;
