//! The runner of the regression suite, which runs LLVM lit's test files in one process.
//!
//! A test is a file with `RUN:` lines. A small shell inside this process runs their commands: the project's tools
//! through `mind_driver::host`, FileCheck through the `filecheck` crate. A test that passes here also passes LLVM's own
//! `lit` and `FileCheck` (`lit.cfg.py`). The reverse is not true, because this runner also rejects unused checks,
//! unknown keywords, writes outside the test's own folder, transformations that change results, and stale generated
//! blocks.
//!
//! ```text
//! discovery -> harness -> trial -> case -> script -> substitution -> shell -> tool
//!                           `--> strict, golden, semantics, report
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
