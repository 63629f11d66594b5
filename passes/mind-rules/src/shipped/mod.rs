//! The rules that ship with the compiler.

mod part;
mod sides;
mod written;

pub use part::{ShippedOps, Wanted};
pub(crate) use written::Parsed;
pub use written::{SHIPPED, shipped_names};
