//! Rewrite patterns and pattern sets.

use mind_ir::OpId;
use mind_ir::opdef::OpDef;
use rustc_hash::FxHashMap;

use crate::{OperandKinds, Rewriter};

/// A rewrite of one op.
pub trait RewritePattern {
    /// A short stable name, shown in remarks and statistics.
    fn name(&self) -> &str;

    /// Returns the rule file and line that define it; `None` for a compiled-in pattern.
    fn place(&self) -> Option<(&str, usize)> {
        None
    }

    /// Returns its class of exactness, for example `exact` or `reassoc`.
    fn class(&self) -> &str {
        "exact"
    }

    /// Returns the ops that it may match at its root.
    fn roots(&self) -> &[&'static OpDef];

    /// Returns its benefit. Patterns with a greater benefit are tried first; equal ones in order of addition.
    fn benefit(&self) -> u16 {
        1
    }

    /// Returns whether it may match a root op with operands of these kinds. Called once per run for each root and
    /// kinds, before [`rewrite`](RewritePattern::rewrite) is tried on such ops.
    fn may_match(&self, _operands: &OperandKinds) -> bool {
        true
    }

    /// Rewrites `op`, or leaves the graph unchanged.
    ///
    /// # Errors
    ///
    /// Returns why it did not match, for a missed-optimisation remark at `op`.
    fn rewrite(&self, op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure>;
}

/// Why a pattern did not match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchFailure(pub &'static str);

/// Patterns, indexed by root op.
#[derive(Default)]
pub struct PatternSet {
    patterns: Vec<Box<dyn RewritePattern>>,
    by_root: FxHashMap<*const OpDef, Vec<u32>>,
}

impl PatternSet {
    /// An empty set.
    pub fn new() -> PatternSet {
        PatternSet::default()
    }

    /// Adds a pattern.
    pub fn add(&mut self, pattern: impl RewritePattern + 'static) {
        let index = self.patterns.len() as u32;
        for &root in pattern.roots() {
            let bucket = self.by_root.entry(std::ptr::from_ref(root)).or_default();
            let better =
                |&other: &u32| self.patterns[other as usize].benefit() >= pattern.benefit();
            let at = bucket.iter().take_while(|other| better(other)).count();
            bucket.insert(at, index);
        }
        self.patterns.push(Box::new(pattern));
    }

    /// Keeps only the patterns whose names `keep` accepts.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        let Self { patterns, by_root } = self;
        let kept = |index: &u32| keep(patterns[*index as usize].name());
        by_root.values_mut().for_each(|bucket| bucket.retain(kept));
    }

    /// Returns the patterns for this op, in the order in which they are tried.
    pub(crate) fn of(&self, def: &'static OpDef) -> &[u32] {
        self.by_root
            .get(&std::ptr::from_ref(def))
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn get(&self, index: u32) -> &dyn RewritePattern {
        &*self.patterns[index as usize]
    }

    /// Returns the names of all patterns, in order of addition.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.name())
    }
}
