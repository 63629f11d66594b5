//! What changed in an e-graph since it was last looked at.

use egg::Id;

use crate::egraph::analysis::{Data, Eg};
use crate::search::View;

/// An e-graph as it was when last looked at.
#[derive(Default)]
pub(crate) struct ChangedClasses {
    /// What each id stood for, and what its class knew.
    seen: Vec<(Id, Data)>,
}

impl ChangedClasses {
    /// The classes that changed since the last look, and those that read them over up to `depth` e-nodes,
    /// ascending: where a rule may match that did not before. Every class at the first look.
    pub(crate) fn since_last_look(
        &mut self,
        egraph: &Eg<'_>,
        view: &View<'_>,
        depth: usize,
    ) -> Vec<Id> {
        let mut marked = vec![false; egraph.nodes().len()];
        let mut classes: Vec<Id> = Vec::new();
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
                classes.push(class);
            }
        }
        let mut frontier = 0..classes.len();
        for _ in 0..depth {
            for at in frontier.clone() {
                let parents = view.class(classes[at]).into_iter();
                for parent in parents.flat_map(|class| class.parents()) {
                    let parent = egraph.find(parent);
                    if !std::mem::replace(&mut marked[usize::from(parent)], true) {
                        classes.push(parent);
                    }
                }
            }
            frontier = frontier.end..classes.len();
        }
        classes.sort_unstable();
        classes
    }
}
