//! Matching: patterns compiled to instructions, the machine that runs them, and replacements.

pub(crate) mod greedy;
pub mod matcher;
pub(crate) mod module;
pub(crate) mod operand_filter;
pub mod pattern;
pub mod plan;
pub(crate) mod replacement;
pub mod slots;
pub mod subject;
