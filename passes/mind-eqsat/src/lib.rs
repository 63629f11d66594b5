//! E-graph folding and fusion over any op table.
//!
//! [`fold`] finds cheaper equal forms of a module, and [`fuse`] groups ops into kernels. Both work on regions of a few
//! hundred ops. Each region becomes an e-graph, on which the rules of rule files are applied until saturation.
//! Extraction then chooses e-nodes that never cost more than the program itself, and they are written back into the
//! module.
//!
//! The modules, in the order in which a region passes through them:
//!
//! - `egraph/`, `search/`, `saturate/`: the e-graph, the search for matches, and rounds of rule application.
//! - `cost/`, `fusion/`, `extract/`: prices, fused groups, and the choice of e-nodes.
//! - `writeback/`: turns the chosen e-nodes into ops of the module; `explain/`: the rules that led to them.
//! - `instance.rs`: applies one rule at one value, for tools that examine single rules.
//!
//! `driver.rs` takes a module through them region by region (`region.rs`, `load.rs`, `solve.rs`). `passes/` has the
//! passes `fold`, `fuse` and `unfuse`.
//!
//! The engine names no op, because ops come from rule files and the cost table and are resolved through a
//! [`Registry`](mind_ir::opdef::Registry). Results depend on counts and contents only, never on time or the order of a
//! hash map.

mod context;
pub mod cost;
mod driver;
mod egraph;
mod explain;
mod extract;
mod fusion;
mod instance;
mod limits;
mod load;
mod memo;
mod passes;
mod region;
mod report;
mod saturate;
mod search;
mod solve;
mod writeback;

pub use context::Context;
pub use driver::{fold, fold_with, fuse, fuse_with};
pub use fusion::inline::unfuse;
pub use instance::{Application, RuleInstances};
pub use limits::Limits;
pub use passes::PASSES;
pub use report::{
    Cause, Change, FusedGroup, FusedMember, KeptReason, KeptRegion, MissedFusion, MissedReason,
    Replacement, Report, RuleStats, RuleStep,
};
