//! Mechanical soundness check of rewrite rules.
//!
//! [`check`] builds instances of each rule's left side, applies the rule with the e-graph engine, evaluates both sides
//! on chosen values, and compares the results under the rule's class of exactness. A rule that breaks the promise of
//! its class is rejected with a [`Counterexample`]. A rule that could not be tested is unchecked, which does not pass
//! either.
//!
//! The method is described in docs/rule-checking.md. All random choices come from a fixed seed, and those for one rule
//! do not depend on the other rules.

mod check;
mod counterexample;
mod criteria;
mod draw;
mod dtypes;
mod evaluate;
mod format;
mod halfway;
mod instance;
mod mutants;
mod plan;
mod report;
mod shrink;
mod strata;
mod tally;
mod trial;
mod values;

pub use check::{Config, check};
pub use counterexample::{Counterexample, Observed};
pub use report::{RuleCheck, Verdict, class_text};
