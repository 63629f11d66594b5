//! The one e-graph language, generic over the op table.

use egg::{Id, Language};
use smallvec::SmallVec;

use mind_rules::OpIx;

/// What an e-node applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Head {
    /// A value from outside the region, or the result of an op that is not looked into. The payload
    /// is the leaf's number in its region.
    Leaf,
    /// A constant. The payload is its number in the [`Constants`](super::constants::Constants).
    Const,
    /// A row of the op table. The payload names attributes and result type.
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
    /// The e-graph's own index by op is not used, and costs least where it tells nothing apart.
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
