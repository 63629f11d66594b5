//! Imported programs compute what MIL's own evaluation does.

mod integers;
mod module;
mod programs;
mod regions;
mod rules;
