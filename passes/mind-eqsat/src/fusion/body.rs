//! Groups of e-nodes, before they become fused ops of the module.

use mind_ir::types::TypeView;
use smallvec::SmallVec;

use crate::cost::{Price, Work};
use crate::egraph::language::Head;
use crate::egraph::store::Store;
use crate::extract::{ClassIx, Dense, DenseNode, NodeContent, NodeIx};
use mind_rules::RuleIx;

/// A group of e-nodes that run as one kernel, in topological order; the last one is the result.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) kind: &'static str,
    /// The rule that named it.
    pub(crate) rule: Option<RuleIx>,
    pub(crate) members: Vec<Member>,
}

/// An e-node of a group.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) node: NodeIx,
    pub(crate) operands: SmallVec<[Source; 2]>,
}

/// The source of a member's operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// An operand of the group.
    Operand(usize),
    /// An earlier member.
    Member(usize),
}

impl Group {
    /// Returns the group of `nodes`, which are in topological order, and the classes that it reads from outside, in
    /// order of first use.
    pub(crate) fn new(
        dense: &Dense,
        kind: &'static str,
        rule: Option<RuleIx>,
        nodes: &[NodeIx],
    ) -> (Group, SmallVec<[ClassIx; 3]>) {
        let mut operands: SmallVec<[ClassIx; 3]> = SmallVec::new();
        let mut members: Vec<Member> = Vec::with_capacity(nodes.len());
        for (at, &node) in nodes.iter().enumerate() {
            let sources = dense.node(node).children.iter().map(|&child| {
                let member = nodes[..at]
                    .iter()
                    .position(|&n| dense.node(n).class == child);
                member.map(Source::Member).unwrap_or_else(|| {
                    let known = operands.iter().position(|&own| own == child);
                    Source::Operand(known.unwrap_or_else(|| {
                        operands.push(child);
                        operands.len() - 1
                    }))
                })
            });
            let sources = sources.collect();
            members.push(Member {
                node,
                operands: sources,
            });
        }
        let group = Group {
            kind,
            rule,
            members,
        };
        (group, operands)
    }

    /// Returns the group as an e-node of the class of its last member.
    pub(crate) fn node(
        &self,
        dense: &Dense,
        store: &Store<'_>,
        number: u32,
        operands: SmallVec<[ClassIx; 3]>,
    ) -> Option<DenseNode> {
        let last = dense.node(self.members.last()?.node);
        let price = self.price(dense, store, &operands);
        let content = NodeContent::Group(number);
        Some(DenseNode {
            class: last.class,
            content,
            children: operands,
            price,
            id: None,
        })
    }

    fn price(&self, dense: &Dense, store: &Store<'_>, operands: &[ClassIx]) -> Price {
        let ty = |class: ClassIx| store.ty(dense.class(class).ty);
        let model = &store.costs.model;
        let mut work = Work::default();
        for member in &self.members {
            let node = dense.node(member.node);
            let NodeContent::Node {
                head: Head::Op(op), ..
            } = node.content
            else {
                continue;
            };
            let types: SmallVec<[TypeView<'_>; 4]> =
                node.children.iter().map(|&child| ty(child)).collect();
            let scalar = store.ops.def(op).scalar;
            work = work.plus(model.work(store.costs.class(op), scalar, &types, ty(node.class)));
        }
        let result = self
            .members
            .last()
            .map_or(0, |last| model.bytes(ty(dense.node(last.node).class)));
        let bytes = operands.iter().map(|&operand| model.bytes(ty(operand)));
        model.kernel(bytes.fold(result, u64::saturating_add), work)
    }
}
