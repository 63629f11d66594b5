//! Common subexpression elimination.

use std::hash::{BuildHasher, Hash, Hasher};

use crate::canonicalize::order::{order, positions};
use hashbrown::HashTable;
use mind_ir::graph::Graph;
use mind_ir::listener::{Listener, Rewrite, Step};
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, OpId, ValueId};
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "cse",
    alias: None,
    summary: "Merges ops of the same kind with equal operands, attributes and bodies",
    example: "--cse",
    options: &[],
    enters_regions: true,
    make: |_| Box::new(Cse),
};

struct Cse;

impl Pass for Cse {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let body = g.body();
        let positions = positions(g);
        let (merged, swapped) = merge_block(g, body, &positions, &mut *cx.watch);
        cx.statistics.add("merged", merged as u64);
        Ok(Changed::when(merged + swapped > 0))
    }
}

/// Merges equal ops in `block` and in its inner blocks. Returns the number of ops that were merged, and of commutative
/// ops whose operands were swapped, because merging changed the order of their definitions.
///
/// Bodies are closed, so an op inside a body is never equal to one outside.
fn merge_block(
    g: &mut Graph,
    block: BlockId,
    positions: &[u32],
    listener: &mut dyn Listener,
) -> (usize, usize) {
    // The hash is stored with the op, so that most lookups do not access other ops.
    let mut seen: HashTable<(u64, OpId)> = HashTable::new();
    let (mut merged, mut swapped) = (0, 0);
    let mut readers: FxHashSet<OpId> = FxHashSet::default();
    let mut next = g.ops(block).next();
    while let Some(op) = next {
        next = g.next(op);
        for index in 0..g.regions(op).len() {
            let inner = g.block(g.regions(op)[index]);
            let inside = merge_block(g, inner, positions, listener);
            (merged, swapped) = (merged + inside.0, swapped + inside.1);
        }
        if !is_mergeable(g, op) {
            continue;
        }
        let mut key = hash(g, op);
        let known = |g: &Graph, key: u64| {
            let found = seen.find(key, |&(own, other)| own == key && same(g, op, other));
            found.copied()
        };
        let mut found = known(g, key);
        if found.is_none() && readers.contains(&op) && order(g, op, positions) {
            swapped += 1;
            key = hash(g, op);
            found = known(g, key);
        }
        match found {
            Some((_, first)) if listener.admit(&[PASS.name]) => {
                let values: SmallVec<[ValueId; 1]> = g.results(first).into_iter().collect();
                for result in g.results(op) {
                    readers.extend(g.uses(result).map(|(user, _)| user));
                }
                let pairs = g.results(op).into_iter().zip(&values);
                pairs.for_each(|(old, &new)| g.replace_all_uses(old, new));
                g.erase(op);
                merged += 1;
                let rewrite = Rewrite {
                    op,
                    values: &values,
                    helpers: &[],
                    steps: &[Step::built_in(PASS.name, g.span(op))],
                    cost: None,
                };
                listener.applied(g, &rewrite);
            }
            Some(_) => {}
            None => {
                seen.insert_unique(key, (key, op), |&(hash, _)| hash);
            }
        }
    }
    (merged, swapped)
}

/// Returns whether the op may be merged with an equal one. The `?` extents of equal declared types may differ.
fn is_mergeable(g: &Graph, op: OpId) -> bool {
    g.def(op).has(Trait::Pure) && !g.results(op).is_empty()
}

fn hash(g: &Graph, op: OpId) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    std::ptr::from_ref(g.def(op)).hash(&mut hasher);
    g.operands(op).hash(&mut hasher);
    g.attrs(op).hash(&mut hasher);
    for &region in g.regions(op) {
        for inner in g.ops(g.block(region)) {
            std::ptr::from_ref(g.def(inner)).hash(&mut hasher);
            g.attrs(inner).hash(&mut hasher);
        }
    }
    hasher.finish()
}

fn same(g: &Graph, a: OpId, b: OpId) -> bool {
    g.operands(a) == g.operands(b) && agree_except_operands(g, a, b) && {
        let bodies = g.regions(a).iter().zip(g.regions(b));
        g.regions(a).len() == g.regions(b).len()
            && bodies
                .into_iter()
                .all(|(&a, &b)| same_body(g, g.block(a), g.block(b)))
    }
}

/// Returns whether two ops agree except for operands and bodies.
fn agree_except_operands(g: &Graph, a: OpId, b: OpId) -> bool {
    let types = |op: OpId| g.results(op).into_iter().map(|value| g.type_id(value));
    std::ptr::eq(g.def(a), g.def(b)) && g.attrs(a) == g.attrs(b) && types(a).eq(types(b))
}

/// Returns whether two bodies have the same ops in the same order, with corresponding operands. Bodies are closed: they
/// do not read values from outside.
fn same_body(g: &Graph, a: BlockId, b: BlockId) -> bool {
    // Pairs of blocks that are not yet compared, because ops in bodies may have bodies.
    let mut open = vec![(a, b)];
    let mut counterpart: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    while let Some((a, b)) = open.pop() {
        let types = |block: BlockId| g.arguments(block).into_iter().map(|value| g.type_id(value));
        if !types(a).eq(types(b)) {
            return false;
        }
        counterpart.extend(g.arguments(a).into_iter().zip(g.arguments(b)));
        let (mut ops, mut others) = (g.ops(a), g.ops(b));
        loop {
            let (op, other) = match (ops.next(), others.next()) {
                (None, None) => break,
                (Some(op), Some(other)) => (op, other),
                _ => return false,
            };
            let operands = g
                .operands(op)
                .iter()
                .map(|operand| counterpart.get(operand));
            let regions = (g.regions(op), g.regions(other));
            if !agree_except_operands(g, op, other)
                || !operands.eq(g.operands(other).iter().map(Some))
                || regions.0.len() != regions.1.len()
            {
                return false;
            }
            counterpart.extend(g.results(op).into_iter().zip(g.results(other)));
            let inner = regions.0.iter().zip(regions.1);
            open.extend(inner.map(|(&a, &b)| (g.block(a), g.block(b))));
        }
    }
    true
}
