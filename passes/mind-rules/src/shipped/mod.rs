//! The rules that ship with the compiler.

mod selection;
mod sides;
mod written;

pub use selection::{RuleSelection, ShippedOps};
pub(crate) use written::Parsed;
pub use written::{SHIPPED, shipped_names};
