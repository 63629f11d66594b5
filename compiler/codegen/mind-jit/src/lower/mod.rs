//! Lowering of the loops dialect's kernels to vector IR.
//!
//! - [`apply`]: any scalar function on any dtype.
//! - [`convert`]: conversions between dtypes.
//! - [`prefixes`]: prefix operations.
//! - [`for_each`]: vectorised loops with a masked tail.
//! - [`nest`]: loop nests of elementwise functions and reductions.
//! - [`product`]: matrix products in register tiles.
//! - [`slide`]: pooling windows.
//! - [`reduce`]: reductions in the order of docs/numerics.md.

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
