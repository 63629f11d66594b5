//! Mechanical soundness check of rewrite rules.
//!
//! [`check`] builds instances of each rule's left side, lets the e-graph engine put the right side
//! beside it, evaluates both on chosen values and compares what comes out with what the rule's class
//! promises. A rule that breaks its promise is rejected with a [`Counterexample`]; one that was never
//! put to the test is unchecked, which is no better.
//!
//! The method is described in docs/rule-checking.md. Everything is drawn from a fixed seed, and what
//! is drawn for one rule does not depend on the others.

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
