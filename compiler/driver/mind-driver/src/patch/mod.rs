//! Edits of a module by the stable ids of its values, applied all or none.
//!
//! A tool or an agent reads a module, decides on edits and sends them back. Ids are stable across edits, because an
//! edit does not renumber values that it does not name. [`Edit::read_all`] parses edits from JSON, [`apply`] applies
//! them.

mod apply;
mod edit;
mod error;
mod json;
mod statement;
mod values;

pub use apply::apply;
pub use edit::{Edit, NewBody, NewStatement, Place};
pub use error::PatchError;
