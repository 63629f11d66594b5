//! The e-nodes of each class, by the ids they were added under.

use egg::Id;

use crate::egraph::analysis::Eg;
use crate::egraph::language::{Head, Node};
use crate::search::Match;

/// The e-nodes of each class as it is when this is made, oldest first.
pub(crate) struct ClassNodes {
    /// Where those of each class end in `ids`, by the class's id.
    ends: Vec<u32>,
    ids: Vec<Id>,
}

impl ClassNodes {
    /// Those of every class.
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

    /// The e-nodes of what was a class by this id.
    pub(crate) fn class(&self, class: Id) -> &[Id] {
        let at = usize::from(class);
        let Some(&end) = self.ends.get(at) else {
            return &[];
        };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.ids[start as usize..end as usize]
    }

    /// The oldest e-node of what was a class by this id.
    pub(crate) fn oldest(&self, class: Id) -> Option<Id> {
        self.class(class).first().copied()
    }

    /// The ids of the e-nodes that a match found when this was made, the root's first.
    pub(crate) fn nodes(&self, egraph: &Eg<'_>, found: &Match) -> Vec<Id> {
        let nodes = found.nodes.iter();
        nodes
            .filter_map(|(class, node)| self.find(egraph, *class, node))
            .collect()
    }

    /// The ids of the constants that the values of a match are, where they are more than that.
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
