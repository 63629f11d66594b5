//! Modules to measure on, and measuring them.

pub mod dense;
pub mod generate;
pub mod workloads;
