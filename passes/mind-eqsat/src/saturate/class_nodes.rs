//! The e-nodes of each class, by the ids under which they were added.

use egg::Id;

use crate::egraph::analysis::Eg;
use crate::egraph::language::{Head, Node};
use crate::search::Match;

/// A snapshot of the e-nodes of each class, oldest first.
pub(crate) struct ClassNodes {
    /// The end of each class's range in `ids`, by the id of the class.
    ends: Vec<u32>,
    ids: Vec<Id>,
}

impl ClassNodes {
    /// Collects the e-nodes of every class.
    pub(crate) fn of(egraph: &Eg<'_>) -> ClassNodes {
        let bound = egraph.nodes().len();
        let classes: Vec<usize> = (0..bound)
            .map(|at| usize::from(egraph.find(Id::from(at))))
            .collect();
        let mut ends = vec![0u32; bound];
        classes.iter().for_each(|&class| ends[class] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let mut next = ends.clone();
        let mut ids = vec![Id::from(0); bound];
        for (at, &class) in classes.iter().enumerate().rev() {
            next[class] -= 1;
            ids[next[class] as usize] = Id::from(at);
        }
        ClassNodes { ends, ids }
    }

    /// Returns the e-nodes of the class that had this id at the time of the snapshot.
    pub(crate) fn class(&self, class: Id) -> &[Id] {
        let at = usize::from(class);
        let Some(&end) = self.ends.get(at) else {
            return &[];
        };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.ids[start as usize..end as usize]
    }

    /// Returns the oldest e-node of the class that had this id at the time of the snapshot.
    pub(crate) fn oldest(&self, class: Id) -> Option<Id> {
        self.class(class).first().copied()
    }

    /// Returns the ids of the e-nodes of a match, the root first.
    pub(crate) fn nodes(&self, egraph: &Eg<'_>, found: &Match) -> Vec<Id> {
        let nodes = found.nodes.iter();
        nodes
            .filter_map(|(class, node)| self.find(egraph, *class, node))
            .collect()
    }

    /// Returns the ids of the constants that matched values are equal to, except where the constant is the oldest
    /// e-node.
    pub(crate) fn constants(&self, egraph: &Eg<'_>, found: &Match) -> Vec<Id> {
        let constant = |&class: &Id| {
            let constant = egraph[egraph.find(class)].data.constant?;
            let node = self.find(egraph, class, &Node::nullary(Head::Const, constant))?;
            (self.oldest(class) != Some(node)).then_some(node)
        };
        found.registers.iter().filter_map(constant).collect()
    }

    fn find(&self, egraph: &Eg<'_>, class: Id, node: &Node) -> Option<Id> {
        let same = |&&id: &&Id| {
            let own = egraph.id_to_node(id);
            let children = own.children.iter().zip(&node.children);
            own.head == node.head
                && own.payload == node.payload
                && own.children.len() == node.children.len()
                && children
                    .into_iter()
                    .all(|(&own, &other)| egraph.find(own) == egraph.find(other))
        };
        self.class(class).iter().find(same).copied()
    }
}
