//! Errors of edits.

use mind_diag::Diagnostics;
use thiserror::Error;

/// Error of applying edits; the module is unchanged.
#[derive(Debug, Error)]
pub enum PatchError {
    /// The text is not a list of edits.
    #[error("{place}: {problem}")]
    Json {
        /// The edit and the position in it.
        place: String,
        /// The error.
        problem: String,
    },
    /// An edit cannot be applied.
    #[error("edit {number} ({edit}): {problem}")]
    Edit {
        /// Its number, from 1.
        number: usize,
        /// A brief description.
        edit: String,
        /// The error.
        problem: String,
    },
    /// A deleted op still has users.
    #[error(
        "edit {number} (delete {id}): {readers} still {verb} it; delete or replace {them}, or name a replacement in `instead`",
        verb = if *several { "read" } else { "reads" },
        them = if *several { "them" } else { "that too" }
    )]
    Dependents {
        /// The number of the edit, from 1.
        number: usize,
        /// The id that it deletes.
        id: u64,
        /// The ids of the users.
        readers: String,
        /// Whether there are several users.
        several: bool,
    },
    /// The verifier rejects the resulting module.
    #[error("the edited module has {} errors", .0.error_count())]
    Invalid(Diagnostics),
}
