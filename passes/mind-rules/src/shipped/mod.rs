//! The rules that ship with the compiler.

mod files;
mod part;
mod sides;
mod written;

pub use files::SHIPPED;
pub use part::{ShippedOps, Wanted};
pub(crate) use written::Parsed;
pub use written::shipped_names;
