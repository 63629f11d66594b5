//! The reader of StableHLO.

mod damaged;
mod import;
mod refused;
mod support;
