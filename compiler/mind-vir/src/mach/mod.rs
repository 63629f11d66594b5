//! What selection for any instruction set needs to know of a function.

mod bytes;
mod lookup;
pub(crate) mod pressure;
mod uses;

pub(crate) use bytes::MovedByte;
pub(crate) use lookup::Lookup;
pub(crate) use uses::Uses;
