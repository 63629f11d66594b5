//! Patterns over the core dialect.
//!
//! All are exact: the same bits for every input, any NaN being equal to any NaN.

mod arith;
pub(crate) mod attrs;
mod layout;
mod splat;

use mind_rewrite::PatternSet;

use super::declare::patterns;

/// The canonicalisation patterns of the core dialect.
pub(super) fn add(set: &mut PatternSet) {
    attrs::add(set);
    arith::add(set);
    layout::add(set);
}
