//! Index of patterns by the kinds of an op's operands.
//!
//! Patterns are filtered once for each combination of an op and operand kinds, because a module combines few kinds of
//! ops. The cost per op then does not grow with the number of patterns that cannot match it.

use mind_ir::opdef::OpDef;
use mind_ir::{Graph, OpId};
use rustc_hash::FxHashMap;

use crate::PatternSet;

/// The number of operands that are part of the index.
const OPERANDS: usize = 2;

/// The ops that compute an op's operands.
#[derive(Clone, Copy, Debug)]
pub struct OperandKinds {
    count: usize,
    defs: [Option<&'static OpDef>; OPERANDS],
    same: bool,
}

impl OperandKinds {
    fn of(g: &Graph, op: OpId) -> OperandKinds {
        let operands = g.operands(op);
        let mut kinds = OperandKinds {
            count: operands.len().min(OPERANDS + 1),
            defs: [None; OPERANDS],
            same: matches!(operands, [lhs, rhs] if lhs == rhs),
        };
        if operands.len() <= OPERANDS {
            for (def, &value) in kinds.defs.iter_mut().zip(operands) {
                *def = g.defining_op(value).map(|op| g.def(op));
            }
        }
        kinds
    }

    /// Returns for each operand the op that computes it, if any; empty if there are more than two operands.
    pub fn defs(&self) -> &[Option<&'static OpDef>] {
        self.defs.get(..self.count).unwrap_or(&[])
    }

    /// Returns whether there are two operands and they are the same value.
    pub fn are_same(&self) -> bool {
        self.same
    }

    /// Returns the index key; op rows are identified by address.
    fn key(&self) -> ([*const OpDef; OPERANDS], usize, bool) {
        let address =
            |def: Option<&'static OpDef>| def.map_or(std::ptr::null(), std::ptr::from_ref);
        (self.defs.map(address), self.count, self.same)
    }
}

/// Index key: the op, and the kinds of its operands.
type Key = (*const OpDef, ([*const OpDef; OPERANDS], usize, bool));

/// The candidate patterns of each key, computed on first use.
pub(crate) struct Candidates<'p> {
    pub(crate) patterns: &'p PatternSet,
    found: FxHashMap<Key, Box<[u32]>>,
}

impl<'p> Candidates<'p> {
    pub(crate) fn new(patterns: &'p PatternSet) -> Candidates<'p> {
        Candidates {
            patterns,
            found: FxHashMap::default(),
        }
    }

    /// Returns the candidate patterns for `op` in the order in which they are tried: those that may match, and those
    /// that `always` accepts.
    pub(crate) fn of(&mut self, g: &Graph, op: OpId, always: impl Fn(u32) -> bool) -> &[u32] {
        let def = g.def(op);
        let all = self.patterns.of(def);
        if all.is_empty() {
            return &[];
        }
        let kinds = OperandKinds::of(g, op);
        let key = (std::ptr::from_ref(def), kinds.key());
        self.found.entry(key).or_insert_with(|| {
            let own = all.iter().copied();
            own.filter(|&index| always(index) || self.patterns.get(index).may_match(&kinds))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::{MatchFailure, RewritePattern, Rewriter};
    use mind_core::ops::elementwise::{Add, Neg};
    use mind_ir::builder::Builder;
    use mind_ir::opdef::Op;
    use mind_ir::tensor::Tensor;

    /// A pattern for sums whose first operand is a negation.
    struct OfNegation {
        queries: Rc<Cell<usize>>,
    }

    impl RewritePattern for OfNegation {
        fn name(&self) -> &str {
            "of-negation"
        }

        fn roots(&self) -> &[&'static OpDef] {
            &[Add::DEF]
        }

        fn may_match(&self, operands: &OperandKinds) -> bool {
            self.queries.set(self.queries.get() + 1);
            matches!(operands.defs(), [Some(def), _] if std::ptr::eq(*def, Neg::DEF))
        }

        fn rewrite(&self, _: OpId, _: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
            Err(MatchFailure("never"))
        }
    }

    #[test]
    fn patterns_are_asked_once_for_each_combination_of_kinds() {
        let mut g = Graph::new();
        let mut b = Builder::at_end(&mut g);
        let x = mind_core::constant(&mut b, &Tensor::scalar(1.0f32));
        let y = mind_core::constant(&mut b, &Tensor::scalar(2.0f32));
        let negated = b.one(Neg::DEF, &[x], &[]).unwrap();
        let operands = [[x, y], [y, x], [x, x], [negated, x], [negated, y]];
        let sums = operands.map(|each| b.create(Add::DEF, &each, &[]).unwrap());
        let queries = Rc::default();
        let mut patterns = PatternSet::new();
        patterns.add(OfNegation {
            queries: Rc::clone(&queries),
        });
        let mut candidates = Candidates::new(&patterns);
        let tried = sums.map(|sum| candidates.of(&g, sum, |_| false).len());
        assert_eq!(tried, [0, 0, 0, 1, 1]);
        // Three kinds: two constants, the same operand twice, a negation and a constant.
        assert_eq!(queries.get(), 3);
        let mut always = Candidates::new(&patterns);
        assert_eq!(always.of(&g, sums[0], |_| true), [0]);
    }
}
