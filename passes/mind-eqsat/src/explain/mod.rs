//! Explanation: which rules led to a value, and why others did not act.

pub(crate) mod contradiction;
pub(crate) mod draw;
pub(crate) mod lineage;
pub(crate) mod mismatch;
pub(crate) mod missed;
