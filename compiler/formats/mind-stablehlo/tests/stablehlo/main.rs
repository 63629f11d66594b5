//! Tests of the StableHLO importer.

mod damaged;
mod import;
mod recorded;
mod refused;
mod support;
