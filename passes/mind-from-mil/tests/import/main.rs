//! Imported programs compute the same as MIL's own evaluation.

mod integers;
mod module;
mod programs;
mod regions;
mod rules;
