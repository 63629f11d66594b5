//! Core ML packages.
//!
//! [`package`] converts a program of the mil dialect to the files of an `.mlpackage`: the model as protobuf, a weight
//! file of the large constants, and a manifest. [`read`] does the reverse. Neither goes through text. [`proto`] has the
//! messages of Core ML's published specification that programs need; they are written by hand, so that the build needs
//! no protobuf compiler.

mod feature;
mod interface;
mod manifest;
mod model;
pub mod proto;
pub mod read;
mod value;

pub use model::{Package, package};
