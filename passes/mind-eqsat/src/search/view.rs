//! Array view of an e-graph between changes.

use egg::{EClass, Id};

use super::fingerprint::{Fingerprint, OpBits};
use super::index::Root;
use crate::egraph::analysis::{Data, Eg};
use crate::egraph::language::{Head, Node};

/// A class of a region's e-graph.
pub(crate) type Class = EClass<Node, Data>;

/// The classes of an e-graph by id, each with its fingerprint.
pub(crate) struct View<'a> {
    classes: Vec<Option<&'a Class>>,
    fingerprints: Vec<Fingerprint>,
}

impl<'a> View<'a> {
    /// Collects the current classes of `egraph`; fingerprints use `bits`.
    pub(crate) fn new(egraph: &'a Eg<'_>, bits: &OpBits) -> View<'a> {
        let mut view = View {
            classes: vec![None; egraph.nodes().len()],
            fingerprints: vec![Fingerprint::default(); egraph.nodes().len()],
        };
        for class in egraph.classes() {
            let at = usize::from(class.id);
            view.classes[at] = Some(class);
            let mut own = bits.constant(class.data.constant.is_some());
            for node in &class.nodes {
                if let Head::Op(op) = node.head {
                    own |= bits.of(op);
                }
            }
            let dtype = egraph.analysis.store.ty(class.data.ty).dtype;
            view.fingerprints[at] = Fingerprint::new(own, dtype);
        }
        for class in egraph.classes() {
            let below = class.nodes.iter().map(|node| view.below(node));
            let below = below.fold(0, |all, each| all | each);
            view.fingerprints[usize::from(class.id)].below = below;
        }
        view
    }

    /// Returns the bits of the children of `node`.
    pub(crate) fn below(&self, node: &Node) -> u64 {
        let own = node
            .children
            .iter()
            .map(|&child| self.fingerprint(child).own);
        own.fold(0, |all, each| all | each)
    }

    /// Returns the class with this canonical id; `None` if there is none.
    pub(crate) fn class(&self, class: Id) -> Option<&'a Class> {
        self.classes.get(usize::from(class)).copied().flatten()
    }

    /// Returns the fingerprint of the class with this canonical id.
    pub(crate) fn fingerprint(&self, class: Id) -> Fingerprint {
        self.fingerprints[usize::from(class)]
    }

    /// Returns every class in ascending order, as a root at which all patterns are searched.
    pub(crate) fn roots(&self) -> Vec<Root> {
        let classes = self.classes.iter().flatten();
        classes.map(|class| Root::changed(class.id)).collect()
    }
}
