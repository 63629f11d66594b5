//! The tools as functions.

pub mod cli;
pub mod opt;
pub mod run;
pub mod translate;

use crate::host::Tool;

/// Every tool by the name of its binary.
pub const ALL: &[(&str, Tool)] = &[
    ("mind-opt", opt::run),
    ("mind-run", run::run),
    ("mind-translate", translate::run),
];
