//! The text formats mic@1, mic@2 and Core.
//!
//! [`Formats`] reads and writes all of them. Parsing leaves values untyped and records the types that a text declares;
//! [`mind_ir::verify::verify`] infers the type of every value. The formats do not depend on each other.
//!
//! Text formats in other crates share [`number`], [`Limits`], [`SourceMap`], [`first_line`] and the names that other
//! tools use for dtypes ([`foreign::dtype`]).

pub mod core;
pub mod foreign;
mod format;
mod header;
mod input;
pub mod limits;
mod line;
pub mod mic1;
pub mod mic2;
pub mod number;
mod quoted;
mod refusal;
mod scan;
mod source_map;
mod words;

pub use format::{Format, Formats, LineError, detect, first_error, first_line, is_interface_line};
pub use limits::Limits;
pub use source_map::{Entity, Occurrence, Role, SourceMap};
