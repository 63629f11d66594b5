//! Decoder models as modules of the core dialect.
//!
//! [`document`] gives a whole model without a cache, as a document of IR v2 describes it. [`parts`] gives the pieces that a run with a cache of keys and values is made of, and [`rope`] the rows of
//! the rotation that they take.

mod attention;
pub mod document;
mod emit;
mod layer;
pub mod parts;
pub mod rope;

pub use emit::BuildError;
