//! Extraction: choosing one e-node per class, by the cost of the whole choice.

mod dense;
mod mffc;
mod stamps;

pub(crate) use dense::{ClassIx, Dense, DenseNode, NodeIx, What};
pub(crate) use mffc::Choice;
pub(crate) use stamps::Rank;
