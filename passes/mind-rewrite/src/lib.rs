//! Rewrite patterns and the greedy driver.
//!
//! A [`RewritePattern`] matches one op and either rewrites it through the [`Rewriter`] or returns why not. [`apply`]
//! runs a [`PatternSet`] to a fixed point.

mod body;
mod candidates;
mod constants;
mod greedy;
mod pattern;
mod rewriter;
mod worklist;

pub use body::end_body;
pub use candidates::OperandKinds;
pub use constants::{ConstantLimit, constant_operands, constant_value, fold_to_constants};
pub use greedy::{EVALUATE, FOLD, GreedyConfig, GreedyReport, NotConverged, apply, erase_dead};
pub use pattern::{MatchFailure, PatternSet, RewritePattern};
pub use rewriter::Rewriter;
