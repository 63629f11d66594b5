//! Saturation: rounds of matching and applying rules in an e-graph.

pub(crate) mod apply;
pub(crate) mod members;
pub(crate) mod merge;
pub(crate) mod news;
pub(crate) mod phases;
