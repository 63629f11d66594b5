//! The regression suite's runner: LLVM lit's files, run in one process.
//!
//! A test is a file with `RUN:` lines. The commands in them are run by a small shell inside this process:
//! the project's tools through `mind_driver::host`, FileCheck through the `filecheck` crate. What passes
//! here passes LLVM's own `lit` and `FileCheck` too (`lit.cfg.py`); the reverse does not hold, because this
//! runner also rejects checks that nothing reads, unknown keywords, writes outside the test's own folder,
//! outputs that compute something else than their input, and stale generated blocks.
//!
//! ```text
//! discovery -> harness -> trial -> case -> script -> substitution -> shell -> tool
//!                            `--> strict, golden, semantics, report
//! ```

pub mod case;
pub mod config;
pub mod diff;
pub mod discovery;
pub mod features;
pub mod golden;
pub mod harness;
pub mod page;
pub mod panics;
pub mod report;
pub mod sandbox;
pub mod script;
pub mod semantics;
pub mod shell;
pub mod strict;
pub mod substitution;
pub mod tool;
pub mod trial;
pub mod verdict;

#[cfg(test)]
mod selftest;

pub use config::Config;
pub use semantics::{Semantics, Transformation};
