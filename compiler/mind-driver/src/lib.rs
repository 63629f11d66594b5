//! Default registry, pipelines and the tools as functions.

pub mod host;
