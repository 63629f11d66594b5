//! Edits of a module by the stable ids of its values: all of them or none.
//!
//! An agent, or a tool, reads a module, decides on edits and sends them back; ids mean the same before and after,
//! as no edit renumbers what it does not name. [`Edit::read_all`] reads edits as JSON, [`apply`] makes them.

mod apply;
mod edit;
mod error;
mod json;
mod statement;
mod values;

pub use apply::apply;
pub use edit::{Edit, NewBody, NewStatement, Place};
pub use error::PatchError;
