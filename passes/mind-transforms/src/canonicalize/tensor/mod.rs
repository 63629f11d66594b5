//! Patterns over the tensor dialect.
//!
//! All are exact: the same bits for every input, any NaN being equal to any NaN.

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
