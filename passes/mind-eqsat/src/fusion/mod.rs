//! Fusion of ops into groups that run as one kernel.

pub(crate) mod body;
pub(crate) mod build;
mod cluster;
mod flat;
pub(crate) mod group;
pub(crate) mod inline;
mod pair;
pub(crate) mod propose;
pub(crate) mod record;
