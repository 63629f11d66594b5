//! Fusion: ops that run as one.

pub(crate) mod body;
pub(crate) mod build;
mod cluster;
mod flat;
pub(crate) mod group;
pub(crate) mod inline;
mod pair;
pub(crate) mod propose;
pub(crate) mod record;
