//! JSON with source spans.
//!
//! [`parse`] is strict: duplicate keys, trailing data, deep nesting, `NaN` and infinities are errors with a span.
//! Numbers keep their text and objects the order of their keys, so that [`Value::print`] is lossless.
//! [`pointer`](fn@pointer) returns the JSON pointer of a span.

mod parse;
mod pointer;
mod print;
mod value;

pub use parse::{Limits, MALFORMED, parse};
pub use pointer::{locate, pointer};
pub use value::{Member, Value, ValueKind};
