//! Core ML packages.
//!
//! [`package`] turns a program of the mil dialect into the files of an `.mlpackage`: the model as protobuf,
//! large constants in a weight file, a manifest; [`read`] goes the other way, and neither through text. The messages of [`proto`] are those of Core ML's published
//! specification that a program needs, written by hand, so that building needs no protobuf compiler.

mod feature;
mod interface;
mod manifest;
mod model;
pub mod proto;
pub mod read;
mod value;

pub use model::{Package, package};
