//! The names of what rewrites besides the rules.

use mind_rewrite::{EVALUATE, FOLD};
use mind_rules::{FOLDING, FUSION};

use crate::{canonicalize, cse};

/// The names of the patterns that are written in Rust, in the name space of rules.
pub fn pattern_names() -> Vec<String> {
    canonicalize::patterns()
        .names()
        .map(str::to_owned)
        .collect()
}

/// The names of everything that rewrites besides the rules: patterns, and what passes do by themselves.
pub fn rewrite_names() -> Vec<String> {
    let own = [FOLD, EVALUATE, FOLDING, FUSION, cse::PASS.name];
    let own = own.into_iter().map(str::to_owned);
    pattern_names().into_iter().chain(own).collect()
}
