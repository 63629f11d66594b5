//! The search for matches of rules in an e-graph.

pub(crate) mod egraph;
pub(crate) mod explain;
mod fingerprint;
pub(crate) mod index;
mod prefilter;
mod view;

pub(crate) use egraph::{InEgraph, Match, search_if};
pub(crate) use index::{Hit, Query, Root, RuleIndex, since};
pub(crate) use view::View;
