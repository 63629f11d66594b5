//! Fusion: ops that run as one.

pub(crate) mod body;
pub(crate) mod build;
pub(crate) mod group;
pub(crate) mod propose;
