//! The rules that ship with the compiler.

mod files;
mod part;

pub use files::SHIPPED;
pub(crate) use part::Parsed;
pub use part::{ShippedOps, Wanted, shipped_names};
