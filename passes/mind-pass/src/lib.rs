//! Passes, the pass manager and pipeline text.
//!
//! A pass is a [`PassInfo`] row: name, summary, options, and a function that makes a [`Pass`]. Flags,
//! help, pipeline text and docs all come from the rows.

mod drawing;
mod manager;
mod pass;
mod pipeline;
mod registry;
mod rewrite_options;
mod run_cache;
mod statistics;

pub use drawing::{Drawing, DrawingForm};
pub use manager::{Failure, Instrument, Manager, PipelineEvent};
pub use pass::{Changed, OptionInfo, OptionKind, Options, Pass, PassCx, PassError, PassInfo};
pub use pipeline::{Pipeline, Step, parse_pipeline};
pub use registry::PassRegistry;
pub use rewrite_options::{RewriteOptions, RuleSource};
pub use run_cache::RunCache;
pub use statistics::{RuleCounts, Statistics};
