//! The text formats mic@1, mic@2 and Core.
//!
//! [`Formats`] reads and writes all of them. Parsing leaves values untyped and records the types that
//! a text declares; [`mind_ir::verify::verify`] gives every value its type. No format knows another.

pub mod limits;
pub mod number;
mod header;
pub mod mic1;
pub mod mic2;
mod quoted;
mod scan;
mod words;
