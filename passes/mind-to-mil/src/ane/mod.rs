//! What of a program runs on the neural engine, as far as its constraints are known.
//!
//! Every constraint is a row of [`CONSTRAINTS`]; [`report`] names the row that decides for each op. None of
//! the rows can be checked without the hardware, so the report says where each one comes from.

mod facts;
mod range;
mod report;
mod rows;

pub use report::{Finding, Report, report};
pub use rows::{CONSTRAINTS, Constraint, Limit, SMALL_ISLAND, Verdict};
