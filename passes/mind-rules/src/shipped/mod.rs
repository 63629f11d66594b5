//! The rules that ship with the compiler.

mod files;
#[rustfmt::skip]
mod index;
mod part;
mod row;
mod uses;

pub use files::SHIPPED;
pub(crate) use part::written;
pub use part::{ShippedOps, Wanted, shipped_names};
pub use uses::RuleUse;
