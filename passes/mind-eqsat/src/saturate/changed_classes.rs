//! Tracks the classes that changed between searches.

use egg::Id;

use crate::egraph::analysis::{Data, Eg};
use crate::search::{Root, View};

/// The state of an e-graph at the last search.
#[derive(Default)]
pub(crate) struct ChangedClasses {
    /// The class of each id, and the analysis data of the class.
    seen: Vec<(Id, Data)>,
}

impl ChangedClasses {
    /// Returns the classes that changed since the last call, and the classes that read them through up to `depth`
    /// e-nodes, in ascending order. Each has the distance to the nearest changed class, because only a pattern at least
    /// that deep may have a new match there. The first call returns every class.
    pub(crate) fn since_last_call(
        &mut self,
        egraph: &Eg<'_>,
        view: &View<'_>,
        depth: usize,
    ) -> Vec<Root> {
        let mut marked = vec![false; egraph.nodes().len()];
        let mut roots: Vec<Root> = Vec::new();
        for (id, _) in egraph.nodes().iter().enumerate() {
            let class = egraph.find(Id::from(id));
            let Some(data) = view.class(class).map(|class| class.data) else {
                continue;
            };
            let now = (class, data);
            let new = match self.seen.get_mut(id) {
                Some(seen) if *seen == now => false,
                Some(seen) => {
                    *seen = now;
                    true
                }
                None => {
                    self.seen.push(now);
                    true
                }
            };
            if new && !std::mem::replace(&mut marked[usize::from(class)], true) {
                roots.push(Root::changed(class));
            }
        }
        let mut frontier = 0..roots.len();
        for distance in 1..=depth {
            for at in frontier.clone() {
                let parents = view.class(roots[at].class).into_iter();
                for parent in parents.flat_map(|class| class.parents()) {
                    let class = egraph.find(parent);
                    if !std::mem::replace(&mut marked[usize::from(class)], true) {
                        roots.push(Root { class, distance });
                    }
                }
            }
            frontier = frontier.end..roots.len();
        }
        roots.sort_unstable_by_key(|root| root.class);
        roots
    }
}
