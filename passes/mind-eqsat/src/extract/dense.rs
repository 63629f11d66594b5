//! Array view of a saturated e-graph.

use egg::{Id, Language};
use mind_ir::Ty;
use mind_ir::types::TypeView;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::rank::Rank;
use crate::cost::Price;
use crate::egraph::language::{Head, Node};
use crate::egraph::store::Store;
use crate::load::{Loaded, MergedPart};

/// The index of a class in a [`Dense`] view.
pub(crate) type ClassIx = u32;

/// The index of an e-node in a [`Dense`] view.
pub(crate) type NodeIx = u32;

/// The contents of an e-node of a dense view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeContent {
    /// An e-node of the e-graph.
    Node { head: Head, payload: u32 },
    /// A fused group, by its index.
    Group(u32),
}

/// An e-node of a dense view.
#[derive(Clone, Debug)]
pub(crate) struct DenseNode {
    pub(crate) class: ClassIx,
    pub(crate) content: NodeContent,
    pub(crate) children: SmallVec<[ClassIx; 3]>,
    pub(crate) price: Price,
    /// The id under which it was added first; `None` for a group.
    pub(crate) id: Option<Id>,
}

/// A class of a dense view.
#[derive(Clone, Debug)]
pub(crate) struct DenseClass {
    pub(crate) ty: Ty,
    pub(crate) nodes: Vec<NodeIx>,
    pub(crate) rank: Rank,
    /// The first op of the program that computes it: an index into [`Loaded::ops`].
    pub(crate) program: Option<u32>,
}

/// Array view of a saturated e-graph: classes and e-nodes, numbered in order of creation.
pub(crate) struct Dense {
    pub(crate) classes: Vec<DenseClass>,
    pub(crate) nodes: Vec<DenseNode>,
    /// The classes that are read outside the region, without duplicates.
    pub(crate) roots: Vec<ClassIx>,
    /// E-nodes that only save cost if all of them are chosen: each list holds the parts of one merged op.
    pub(crate) together: Vec<Vec<NodeIx>>,
    /// The current e-node of each op of the program, by its index in [`Loaded::ops`]; `None` if the op equals an
    /// operand.
    pub(crate) program: Vec<Option<NodeIx>>,
    numbers: Vec<ClassIx>,
    /// The current e-node of each id of the e-graph.
    node_of: Vec<NodeIx>,
}

impl Dense {
    /// Builds the dense view of a region with prices, but without ranks.
    pub(super) fn new(loaded: &Loaded<'_>) -> Dense {
        let egraph = &loaded.egraph;
        let bound = egraph.nodes().len();
        let mut dense = Dense {
            classes: Vec::new(),
            nodes: Vec::new(),
            roots: Vec::new(),
            together: Vec::new(),
            program: Vec::new(),
            numbers: vec![ClassIx::MAX; bound],
            node_of: Vec::with_capacity(bound),
        };
        for at in 0..bound {
            let class = usize::from(egraph.find(Id::from(at)));
            if dense.numbers[class] == ClassIx::MAX {
                dense.numbers[class] = dense.classes.len() as ClassIx;
                let ty = egraph[Id::from(class)].data.ty;
                let class = DenseClass {
                    ty,
                    nodes: Vec::new(),
                    rank: Rank::NEVER,
                    program: None,
                };
                dense.classes.push(class);
            }
            dense.numbers[at] = dense.numbers[class];
        }
        let mut known: FxHashMap<Node, NodeIx> = FxHashMap::default();
        for (at, node) in egraph.nodes().iter().enumerate() {
            let node = node.clone().map_children(|child| egraph.find(child));
            let number = match known.get(&node) {
                Some(&number) => number,
                None => {
                    let number = dense.add(loaded, at, &node);
                    known.insert(node, number);
                    number
                }
            };
            dense.node_of.push(number);
        }
        dense.program = loaded
            .ops
            .iter()
            .map(|op| op.node.map(|id| dense.node_of[usize::from(id)]))
            .collect();
        for (at, op) in loaded.ops.iter().enumerate() {
            let class = dense.class_of(op.class);
            let class = &mut dense.classes[class as usize];
            class.program = class.program.or(Some(at as u32));
        }
        dense.together = loaded
            .merges
            .iter()
            .map(|parts| {
                parts
                    .iter()
                    .filter_map(|part| dense.merged_part(part))
                    .collect()
            })
            .collect();
        let mut is_root = vec![false; dense.classes.len()];
        for value in &loaded.roots {
            let class = dense.class_of(loaded.classes[value]);
            if !std::mem::replace(&mut is_root[class as usize], true) {
                dense.roots.push(class);
            }
        }
        dense
    }

    fn add(&mut self, loaded: &Loaded<'_>, at: usize, node: &Node) -> NodeIx {
        let class = self.numbers[at];
        let children: SmallVec<[ClassIx; 3]> = node
            .children
            .iter()
            .map(|&child| self.class_of(child))
            .collect();
        let known = &loaded.egraph.analysis;
        let price = self.op_price(
            &known.store,
            node.head,
            &children,
            self.classes[class as usize].ty,
        );
        let content = NodeContent::Node {
            head: node.head,
            payload: node.payload,
        };
        self.push(DenseNode {
            class,
            content,
            children,
            price,
            id: Some(Id::from(at)),
        })
    }

    /// Returns the e-node of a merged part: that of its class which reads the children of the part.
    fn merged_part(&self, part: &MergedPart) -> Option<NodeIx> {
        let class = self.class_of(part.class);
        let children = || part.children.iter().map(|&child| self.class_of(child));
        let reads = |&&node: &&NodeIx| self.node(node).children.iter().copied().eq(children());
        self.class(class).nodes.iter().find(reads).copied()
    }

    /// Adds an e-node to its class.
    pub(crate) fn push(&mut self, node: DenseNode) -> NodeIx {
        let number = self.nodes.len() as NodeIx;
        self.classes[node.class as usize].nodes.push(number);
        self.nodes.push(node);
        number
    }

    fn op_price(&self, store: &Store<'_>, head: Head, children: &[ClassIx], ty: Ty) -> Price {
        let Head::Op(op) = head else {
            return Price::default();
        };
        let operands: SmallVec<[TypeView<'_>; 4]> = children
            .iter()
            .map(|&child| store.ty(self.classes[child as usize].ty))
            .collect();
        let scalar = store.ops.def(op).scalar;
        store.costs.model.op(
            store.costs.class(op),
            scalar,
            children,
            &operands,
            store.ty(ty),
        )
    }

    /// Returns the index of the class of `id`.
    pub(crate) fn class_of(&self, id: Id) -> ClassIx {
        self.numbers[usize::from(id)]
    }

    /// Returns the e-node that was added under `id`.
    pub(crate) fn node_of(&self, id: Id) -> NodeIx {
        self.node_of[usize::from(id)]
    }

    /// Returns the class with this index.
    pub(crate) fn class(&self, class: ClassIx) -> &DenseClass {
        &self.classes[class as usize]
    }

    /// Returns the e-node with this index.
    pub(crate) fn node(&self, node: NodeIx) -> &DenseNode {
        &self.nodes[node as usize]
    }

    /// Returns whether a choice may use `node`: its children must rank below its class.
    pub(crate) fn selectable(&self, loaded: &Loaded<'_>, node: NodeIx) -> bool {
        let node = self.node(node);
        let rank = self.class(node.class).rank;
        match node.content {
            NodeContent::Node {
                head: Head::Leaf,
                payload,
            } => Rank::at(loaded.leaves[payload as usize].1) <= rank,
            _ => node
                .children
                .iter()
                .all(|&child| self.class(child).rank < rank),
        }
    }
}
