//! Looking for rules: in an e-graph, or in a module.

pub(crate) mod egraph;
pub(crate) mod explain;
pub(crate) mod module;

pub(crate) use egraph::{InEgraph, Match, search, search_if};
