//! E-graph folding and fusion over any op table.
//!
//! [`fold`] finds cheaper equal forms of a module, [`fuse`] gathers ops that run better as one. Both
//! work on regions of a few hundred ops: each becomes an e-graph, rules from files act on it, and a
//! choice of e-nodes that never costs more than the program's own goes back into the module.
//!
//! The rooms, in the order in which a region goes through them:
//!
//! - `egraph/`, `search/`, `saturate/`: the e-graph, where to look for matches, rounds of rules.
//! - `cost/`, `fusion/`, `extract/`: prices, groups of ops, and the choice of e-nodes.
//! - `writeback/`: the chosen program as ops of the module; `explain/`: which rules led to it.
//! - `instance.rs`: one rule at one value, for tools that ask what a single rule does.
//!
//! `driver.rs` takes a module through them region by region (`region.rs`, `load.rs`, `solve.rs`); `passes/` has its
//! passes: fold, fuse, unfuse.
//!
//! The engine names no op: rule files and the cost table do, and are resolved through a
//! [`Registry`](mind_ir::opdef::Registry). Results depend on counts and contents alone, never on a
//! clock or a hash map's order.

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
    Cause, Change, FusedGroup, FusedMember, Kept, KeptReason, MissedFusion, MissedReason,
    Replacement, Report, RuleStats, RuleStep,
};
