//! The reader of StableHLO.

mod damaged;
mod import;
mod recorded;
mod refused;
mod support;
