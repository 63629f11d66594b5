//! An e-graph while nothing changes it, in arrays.

use egg::{EClass, Id};

use super::fingerprint::{Fingerprint, OpBits};
use super::index::Root;
use crate::egraph::analysis::{Data, Eg};
use crate::egraph::language::{Head, Node};

/// A class of a region's e-graph.
pub(crate) type Class = EClass<Node, Data>;

/// The classes of an e-graph by id, each with a fingerprint of what it holds.
pub(crate) struct View<'a> {
    classes: Vec<Option<&'a Class>>,
    fingerprints: Vec<Fingerprint>,
}

impl<'a> View<'a> {
    /// The classes of `egraph` as it is now; fingerprints use `bits`.
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

    /// What the classes that `node` reads hold.
    pub(crate) fn below(&self, node: &Node) -> u64 {
        let own = node
            .children
            .iter()
            .map(|&child| self.fingerprint(child).own);
        own.fold(0, |all, each| all | each)
    }

    /// The class with this id, which is canonical; `None` if there is none, or this view is empty.
    pub(crate) fn class(&self, class: Id) -> Option<&'a Class> {
        self.classes.get(usize::from(class)).copied().flatten()
    }

    /// The fingerprint of the class with this id, which is canonical.
    pub(crate) fn fingerprint(&self, class: Id) -> Fingerprint {
        self.fingerprints[usize::from(class)]
    }

    /// Every class, ascending, where any pattern is looked for.
    pub(crate) fn roots(&self) -> Vec<Root> {
        let classes = self.classes.iter().flatten();
        classes.map(|class| Root::changed(class.id)).collect()
    }
}
