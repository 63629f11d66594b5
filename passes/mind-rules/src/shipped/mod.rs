//! The rules that ship with the compiler.

mod files;
mod part;

pub use files::SHIPPED;
pub(crate) use part::Written;
pub use part::{ShippedOps, Wanted, shipped_names};
