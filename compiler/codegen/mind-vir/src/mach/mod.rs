//! Analyses of a function that instruction selection uses on every target.

mod bytes;
mod lookup;
pub(crate) mod pressure;
mod uses;

pub(crate) use bytes::MovedByte;
pub(crate) use lookup::Lookup;
pub(crate) use uses::Uses;
