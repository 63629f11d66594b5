//! Memoisation of regions with the same contents.
//!
//! The layers of a model repeat. The outcome of a search only depends on the region's e-graph as it was loaded, the
//! positions of its leaves and ops, and their readers: its *key*. Ids in the key are relative to the region, so a later
//! region of the same key has the same e-graph, and the solution of one applies to the other unchanged.

use std::collections::hash_map::Entry;

use egg::Id;
use rustc_hash::FxHashMap;

use crate::cost::CostTable;
use crate::egraph::analysis::{Eg, LeafData};
use crate::egraph::language::Node;
use crate::egraph::store::Store;
use crate::load::Loaded;
use crate::solve::Saturated;
use mind_rules::OpTable;

/// The most e-nodes that are kept, in keys and solutions together. All are dropped when the limit is reached.
const MOST_NODES: usize = 1 << 16;

/// Everything that a search over a region depends on, apart from the settings of the run.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct RegionKey {
    nodes: Box<[Node]>,
    /// The analysis data and position of each leaf.
    leaves: Box<[(LeafData, u32)]>,
    /// The position, e-node and result class of each op.
    ops: Box<[(u32, Option<Id>, Id)]>,
    /// The number of operands that read the result of each op, and whether one is outside the region.
    readers: Box<[(u32, bool)]>,
}

impl RegionKey {
    /// Returns the key of a region to which no rule was applied yet.
    pub(crate) fn of(loaded: &Loaded<'_>) -> RegionKey {
        let known = &loaded.egraph.analysis.leaves;
        let leaves = known.iter().zip(&loaded.leaves);
        let ops = loaded.ops.iter();
        RegionKey {
            nodes: loaded.egraph.nodes().into(),
            leaves: leaves
                .map(|(&data, &(_, position))| (data, position))
                .collect(),
            ops: ops.map(|own| (own.position, own.node, own.class)).collect(),
            readers: loaded.readers.as_slice().into(),
        }
    }
}

/// The solution of a region.
pub(crate) struct Solved<'r> {
    /// The e-graph from which the best form was chosen; `None` if the region is kept as it is.
    pub(crate) egraph: Option<Eg<'r>>,
    pub(crate) solution: Saturated,
}

/// The solutions of earlier regions.
#[derive(Default)]
pub(crate) struct Memo<'r> {
    solved: FxHashMap<RegionKey, Solved<'r>>,
    nodes: usize,
}

impl<'r> Memo<'r> {
    /// Returns the solution for this key.
    pub(crate) fn get(&mut self, key: &RegionKey) -> Option<&mut Solved<'r>> {
        self.solved.get_mut(key)
    }

    /// Stores the solution of `loaded`, with its e-graph if there is a better form. Returns the store, which regions
    /// share.
    pub(crate) fn keep(
        &mut self,
        key: RegionKey,
        mut loaded: Loaded<'r>,
        solution: Saturated,
    ) -> Store<'r> {
        let own = &mut loaded.egraph.analysis.store;
        let (ops, costs): (&'r OpTable, &'r CostTable<'r>) = (own.ops, own.costs);
        let store = std::mem::replace(own, Store::vacant(ops, costs));
        let better = solution.best.is_some();
        let size = key.nodes.len()
            + if better {
                loaded.egraph.nodes().len()
            } else {
                0
            };
        if self.nodes + size > MOST_NODES {
            self.solved.clear();
            self.nodes = 0;
        }
        let egraph = better.then_some(loaded.egraph);
        if let Entry::Vacant(place) = self.solved.entry(key) {
            place.insert(Solved { egraph, solution });
            self.nodes += size;
        }
        store
    }
}
