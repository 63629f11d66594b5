//! From the scalar functions of ops to vector IR.
//!
//! - [`apply`]: any scalar function on any dtype.
//! - [`convert`]: floats in other float dtypes.
//! - [`prefixes`]: chains that keep every step.
//! - [`for_each`]: loops over a range by vectors, with the rest at the end.
//! - [`nest`]: rows of elementwise functions and reductions.
//! - [`product`]: matrix products in tiles of registers.
//! - [`slide`]: windows that slide over a tensor.
//! - [`reduce`]: reductions in the order that docs/numerics.md states.

pub mod nest;
pub mod product;
pub mod slide;

mod convert;
mod cumulative;
mod each;
mod math;
mod reduce;
mod scalar;
mod transpose;
mod truth;

pub use convert::{convert, convert_lane};
pub use cumulative::{Lines, prefixes};
pub use each::{At, for_each};
pub use math::VectorSteps;
pub use reduce::{combine, identity, reduce};
pub use scalar::{apply, compute_lane, constant, load, narrow, round, storage_lane, store, widen};
