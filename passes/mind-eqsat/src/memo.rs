//! Regions with the same contents are searched once.
//!
//! The layers of a model repeat. What a search comes to depends on nothing but the region's e-graph as it
//! was loaded, where its leaves and ops stand, and who reads them: its *key*. Ids in it count within
//! the region, so that a later region of the same key has the same e-graph, and what was found for
//! one holds for the other word by word.

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

/// The most e-nodes that are remembered, in keys and solutions together; then all are forgotten.
const MOST_NODES: usize = 1 << 16;

/// All that a search over a region depends on, besides what is one for the whole run.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct RegionKey {
    nodes: Box<[Node]>,
    /// What is known of each leaf, and its position.
    leaves: Box<[(LeafData, u32)]>,
    /// The position of each op, the e-node it is and the class of its result.
    ops: Box<[(u32, Option<Id>, Id)]>,
    /// How many operands read the result of each op, and whether something outside the region does.
    readers: Box<[(u32, bool)]>,
}

impl RegionKey {
    /// The key of a region on which no rule has acted.
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

/// What was found for a region.
pub(crate) struct Solved<'r> {
    /// The e-graph that the best form is a choice from; `None` if the region stays as it is.
    pub(crate) egraph: Option<Eg<'r>>,
    pub(crate) solution: Saturated,
}

/// What was found for the regions seen so far.
#[derive(Default)]
pub(crate) struct Memo<'r> {
    solved: FxHashMap<RegionKey, Solved<'r>>,
    nodes: usize,
}

impl<'r> Memo<'r> {
    /// What was found for a region of this key.
    pub(crate) fn get(&mut self, key: &RegionKey) -> Option<&mut Solved<'r>> {
        self.solved.get_mut(key)
    }

    /// Remembers what was found for `loaded`, and takes its e-graph where there is a better form; gives
    /// back the tables that regions share.
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
