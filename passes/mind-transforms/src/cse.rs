//! Merging of ops that compute the same value.

use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use mind_ir::graph::Graph;
use mind_ir::listener::{Listener, Rewrite, Step};
use mind_ir::opdef::Trait;
use mind_ir::{BlockId, OpId, ValueId};
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

pub(crate) const PASS: PassInfo = PassInfo {
    name: "cse",
    alias: None,
    summary: "Merges ops of one kind with the same operands and attributes",
    example: "--cse",
    options: &[],
    make: |_| Box::new(Cse),
};

struct Cse;

impl Pass for Cse {
    fn run(&self, g: &mut Graph, cx: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let body = g.body();
        let merged = merge_block(g, body, &mut *cx.watch);
        cx.statistics.add("merged", merged as u64);
        Ok(Changed::when(merged > 0))
    }
}

/// Merges within `block` and within the blocks inside it; the count of ops merged away.
///
/// Bodies are closed, so an op inside one is never the same as an op outside.
fn merge_block(g: &mut Graph, block: BlockId, listener: &mut dyn Listener) -> usize {
    // The hash stands beside the op: a look into the table then seldom needs a look at an op.
    let mut seen: HashTable<(u64, OpId)> = HashTable::new();
    let mut merged = 0;
    let mut next = g.ops(block).next();
    while let Some(op) = next {
        next = g.next(op);
        for index in 0..g.regions(op).len() {
            let inner = g.block(g.regions(op)[index]);
            merged += merge_block(g, inner, listener);
        }
        if !is_mergeable(g, op) {
            continue;
        }
        let hash = hash(g, op);
        match seen.find(hash, |&(own, other)| own == hash && same(g, op, other)) {
            Some(&(_, first)) if listener.admit(&[PASS.name]) => {
                let values: SmallVec<[ValueId; 1]> = g.results(first).into_iter().collect();
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
                seen.insert_unique(hash, (hash, op), |&(hash, _)| hash);
            }
        }
    }
    merged
}

/// Whether two of these may become one. Ops with bodies are left alone, and `?` extents of equal
/// declared types need not be equal.
fn is_mergeable(g: &Graph, op: OpId) -> bool {
    let def = g.def(op);
    def.has(Trait::Pure) && g.regions(op).is_empty() && !g.results(op).is_empty()
}

fn hash(g: &Graph, op: OpId) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    std::ptr::from_ref(g.def(op)).hash(&mut hasher);
    g.operands(op).hash(&mut hasher);
    g.attrs(op).hash(&mut hasher);
    hasher.finish()
}

fn same(g: &Graph, a: OpId, b: OpId) -> bool {
    let types = |op: OpId| g.results(op).into_iter().map(|value| g.type_id(value));
    std::ptr::eq(g.def(a), g.def(b))
        && g.operands(a) == g.operands(b)
        && g.attrs(a) == g.attrs(b)
        && types(a).eq(types(b))
}
