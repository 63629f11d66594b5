//! Infrastructure shared by the importers of foreign models.
//!
//! `refusal.rs` has the reason for which a part of a model is not imported, with its code and what was found and expected;
//! `report.rs` collects all of them, with the place of each, and what an import warns of. `names.rs` spells names of
//! dimensions.

mod names;
mod refusal;
mod report;

pub use names::DimSymbols;
pub use refusal::{Argument, Refusal};
pub use report::{Imported, Report, Site};
