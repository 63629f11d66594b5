//! Estimates which ops of a program run on the neural engine, as far as its constraints are known.
//!
//! Every constraint is a row of [`CONSTRAINTS`]; [`report`] names the deciding row for each op. The rows cannot be
//! checked without the hardware, so the report states the source of each.

mod facts;
mod range;
mod report;
mod rows;

pub use report::{Finding, Report, report};
pub use rows::{CONSTRAINTS, Constraint, Limit, SMALL_ISLAND, Verdict};
