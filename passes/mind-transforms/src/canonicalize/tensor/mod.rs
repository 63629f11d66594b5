//! Patterns for the tensor dialect.
//!
//! All are exact: they keep all bits for every input, where all NaNs are equal.

mod body;
mod layout;
mod map;
mod query;

use mind_rewrite::PatternSet;

/// Adds the canonicalisation patterns of the tensor dialect.
pub(super) fn add(set: &mut PatternSet) {
    layout::add(set);
    map::add(set);
}
