//! Why edits are refused.

use mind_diag::Diagnostics;
use thiserror::Error;

/// Why edits are refused; the module is then as it was.
#[derive(Debug, Error)]
pub enum PatchError {
    /// The text is not a list of edits.
    #[error("{place}: {problem}")]
    Json {
        /// Which edit, and where in it.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// An edit cannot be made.
    #[error("edit {number} ({edit}): {problem}")]
    Edit {
        /// Its number, from 1.
        number: usize,
        /// What it says, in short.
        edit: String,
        /// What is wrong.
        problem: String,
    },
    /// What an edit deletes is still read.
    #[error(
        "edit {number} (delete {id}): {readers} still {verb} it; delete or replace {them}, or say what is read `instead`",
        verb = if *several { "read" } else { "reads" },
        them = if *several { "them" } else { "that too" }
    )]
    Dependents {
        /// Its number, from 1.
        number: usize,
        /// What it deletes.
        id: u64,
        /// The readers, as ids.
        readers: String,
        /// Whether there is more than one.
        several: bool,
    },
    /// The module after all edits breaks rules.
    #[error("after the edits the module breaks {} rules", .0.error_count())]
    Invalid(Diagnostics),
}
