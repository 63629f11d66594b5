//! Fusion: ops that run as one.

pub(crate) mod body;
pub(crate) mod build;
mod cluster;
mod flat;
mod form;
pub(crate) mod group;
pub(crate) mod inline;
pub(crate) mod propose;
pub(crate) mod record;
