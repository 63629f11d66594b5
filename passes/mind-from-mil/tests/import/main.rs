//! Imported programs compute what MIL's own evaluation does.

mod module;
mod programs;
mod rules;
