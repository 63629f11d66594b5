//! Infrastructure shared by the importers of foreign models.
//!
//! `refusal.rs` defines why a part of a model is not imported, with its code, the found and the expected value;
//! `report.rs` collects all refusals, with the place of each, and the warnings of an import. `names.rs` maps names of
//! dimensions to identifiers, for example `a.b`.

mod names;
mod refusal;
mod report;

pub use names::DimSymbols;
pub use refusal::{Argument, Refusal};
pub use report::{Imported, Report, Site};
