//! Matching: patterns as instructions, the machine that runs them, and what a match is replaced by.

pub(crate) mod greedy;
pub(crate) mod matcher;
pub(crate) mod operand_filter;
pub(crate) mod pattern;
pub(crate) mod plan;
pub(crate) mod replacement;
pub(crate) mod slots;
pub(crate) mod subject;
