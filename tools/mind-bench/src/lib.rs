//! Modules to measure on.

pub mod dense;
pub mod generate;
