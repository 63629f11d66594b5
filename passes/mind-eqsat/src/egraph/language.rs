//! The e-graph language, generic over the op table.

use egg::{Id, Language};
use smallvec::SmallVec;

use mind_rules::OpIx;

/// The function symbol of an e-node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Head {
    /// A value from outside the region, or the result of an opaque op. The payload is the index of the leaf in its
    /// region.
    Leaf,
    /// A constant. The payload is its id in the [`Constants`](super::constants::Constants).
    Const,
    /// An op. The payload is the id of its attributes and result type.
    Op(OpIx),
}

/// An e-node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Node {
    pub(crate) head: Head,
    pub(crate) payload: u32,
    pub(crate) children: SmallVec<[Id; 2]>,
}

impl Node {
    /// An e-node without children.
    pub(crate) fn nullary(head: Head, payload: u32) -> Node {
        Node {
            head,
            payload,
            children: SmallVec::new(),
        }
    }
}

impl Language for Node {
    /// egg's index by discriminant is not used here; with a single discriminant it costs the least.
    type Discriminant = ();

    fn discriminant(&self) {}

    fn matches(&self, other: &Node) -> bool {
        self.head == other.head
            && self.payload == other.payload
            && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}
