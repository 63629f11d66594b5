//! Patterns and sets of them.

use mind_ir::OpId;
use mind_ir::opdef::OpDef;
use rustc_hash::FxHashMap;

use crate::{OperandKinds, Rewriter};

/// A rewrite of one op.
pub trait RewritePattern {
    /// A short stable name, shown in remarks and statistics.
    fn name(&self) -> &str;

    /// Where it is written, a rule file and the line there; `None` for one that is compiled in.
    fn place(&self) -> Option<(&str, usize)> {
        None
    }

    /// What it assumes, as the words of a rule's class.
    fn class(&self) -> &str {
        "exact"
    }

    /// The ops it may act on.
    fn roots(&self) -> &[&'static OpDef];

    /// Patterns of greater benefit are tried first; equal ones in the order they were added.
    fn benefit(&self) -> u16 {
        1
    }

    /// Whether it may act on an op of one of its roots with operands of these kinds. Asked once in a run for each root and
    /// kinds, before [`rewrite`](RewritePattern::rewrite) is tried on such ops.
    fn may_match(&self, _operands: &OperandKinds) -> bool {
        true
    }

    /// Rewrites `op`, or leaves everything as it was and says why.
    ///
    /// # Errors
    ///
    /// The reason, for a missed remark at `op`.
    fn rewrite(&self, op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure>;
}

/// Why a pattern did not act.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatchFailure(pub &'static str);

/// Patterns by the op they act on.
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

    /// The patterns for an op of this kind, best first.
    pub(crate) fn of(&self, def: &'static OpDef) -> &[u32] {
        self.by_root
            .get(&std::ptr::from_ref(def))
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn get(&self, index: u32) -> &dyn RewritePattern {
        &*self.patterns[index as usize]
    }

    /// The names of all patterns, in the order they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.name())
    }
}
