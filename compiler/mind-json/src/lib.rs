//! JSON with the place of every value.
//!
//! [`parse`] is strict: duplicate keys, trailing data, deep nesting, `NaN` and infinities are errors with their
//! place. Numbers keep their text, objects the order of their keys, so that [`Value::print`] loses nothing.
//! [`pointer`](fn@pointer) gives the JSON pointer of a place.

mod parse;
mod pointer;
mod print;
mod value;

pub use parse::{Limits, MALFORMED, parse};
pub use pointer::{locate, pointer};
pub use value::{Kind, Member, Value};
