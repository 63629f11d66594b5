//! E-graph folding and fusion over any op table.
//!
//! [`fold`] finds cheaper equal forms of a module, [`fuse`] gathers ops that run better as one. Both
//! work on regions of a few hundred ops: each becomes an e-graph, rules from files act on it, and a
//! choice of e-nodes that never costs more than the program's own goes back into the module.
//!
//! This crate names no op: rule files and the cost table do, and are resolved through a
//! [`Registry`](mind_ir::opdef::Registry). Results depend on counts and contents alone, never on a
//! clock or a hash map's order.

mod apply;
mod context;
pub mod cost;
mod driver;
mod egraph;
mod expr;
mod extract;
mod fast_math;
mod form;
mod fusion;
mod limits;
mod load;
mod matcher;
mod merge;
mod pattern;
mod phases;
mod placement;
mod region;
mod report;
mod rewrite;
mod rules;
mod ruleset;
mod slots;

pub use context::Context;
pub use driver::{fold, fuse};
pub use egraph::facts::Facts;
pub use egraph::payload::AttrValue;
pub use fast_math::FastMath;
pub use form::{Application, Form, Forms, Hint, Left, LeftAttr, LeftDim, LeftOp, LeftType};
pub use fusion::inline::unfuse;
pub use limits::Limits;
pub use report::{
    Change, FusedGroup, FusedMember, Kept, KeptReason, MissedFusion, MissedReason, Replacement,
    Report, RuleIx, RuleStats,
};
pub use ruleset::{RuleErrors, RuleSet, SHIPPED, SourceErrors};
