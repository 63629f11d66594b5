//! Extraction: chooses one e-node per class, by the cost of the whole choice.

mod dense;
mod mffc;
mod rank;
mod stamps;

pub(crate) use dense::{ClassIx, Dense, DenseNode, NodeContent, NodeIx};
pub(crate) use mffc::Choice;
pub(crate) use rank::Rank;

use crate::load::Loaded;

/// Returns the dense view of a region, with prices and ranks.
pub(crate) fn dense_view(loaded: &Loaded<'_>) -> Dense {
    let mut dense = Dense::new(loaded);
    stamps::rank(&mut dense, loaded);
    dense
}
