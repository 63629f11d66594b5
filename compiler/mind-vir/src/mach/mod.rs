//! What selection for any instruction set needs to know of a function.

pub(crate) mod pressure;
mod uses;

pub(crate) use uses::Uses;
