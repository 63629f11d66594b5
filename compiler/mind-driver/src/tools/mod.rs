//! The tools as functions.

pub mod cli;
mod diff;
pub mod fmt;
mod input;
pub mod opt;
pub mod reduce;
pub mod run;
pub mod style;
pub mod translate;

use clap::Command;

use crate::host::Tool;

/// Every tool by the name of its binary.
pub const ALL: &[(&str, Tool)] = &[
    ("mind-fmt", fmt::run),
    ("mind-opt", opt::run),
    ("mind-reduce", reduce::run),
    ("mind-run", run::run),
    ("mind-translate", translate::run),
];

/// The command line of every tool, in the order of [`ALL`].
pub fn commands() -> Vec<Command> {
    vec![
        fmt::command(),
        opt::command(),
        reduce::command(),
        run::command(),
        translate::command(),
    ]
}
