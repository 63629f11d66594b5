//! Explanations: the rules that led to a value, and why others were not applied.

pub(crate) mod contradiction;
pub(crate) mod draw;
pub(crate) mod lineage;
pub(crate) mod mismatch;
pub(crate) mod missed;
