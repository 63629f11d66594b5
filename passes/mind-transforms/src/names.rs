//! The names of rewrites that are not rules.

use mind_rewrite::{EVALUATE, FOLD};
use mind_rules::{FOLDING, FUSION};

use crate::{canonicalize, cse};

/// Returns the names of the patterns that are written in Rust. They share a namespace with the rules.
pub fn pattern_names() -> Vec<String> {
    canonicalize::patterns()
        .names()
        .map(str::to_owned)
        .collect()
}

/// Returns the names of all rewrites that are not rules: patterns, and rewrites that are built into passes.
pub fn rewrite_names() -> Vec<String> {
    let own = [FOLD, EVALUATE, FOLDING, FUSION, cse::PASS.name];
    let own = own.into_iter().map(str::to_owned);
    pattern_names().into_iter().chain(own).collect()
}
