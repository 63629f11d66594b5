//! Pattern matching in an e-graph.

use egg::Id;
use mind_ir::types::TypeView;

use super::view::{Class, View};
use crate::egraph::analysis::Eg;
use crate::egraph::language::{Head, Node};
use crate::egraph::payload::AttrId;
use mind_ir::scalar::Facts;
use mind_rules::AttrValue;
use mind_rules::Constant;
use mind_rules::OpIx;
use mind_rules::expr::Scope;
use mind_rules::matching::matcher::{self, WorkspaceFor};
use mind_rules::matching::pattern::Rule;
use mind_rules::matching::slots::Slots;
use mind_rules::matching::subject::{Knowledge, Subject};

/// An e-graph, with the number of the input program's readers of each class.
#[derive(Clone, Copy)]
pub(crate) struct InEgraph<'a, 'r> {
    pub(crate) egraph: &'a Eg<'r>,
    /// The number of operands of the input program that are in each class, by id.
    pub(crate) uses: &'a [u32],
    /// An array view of the classes, if there is one, for faster access.
    pub(crate) view: Option<&'a View<'a>>,
}

/// A match of a rule's pattern.
#[derive(Clone, Debug)]
pub(crate) struct Match {
    /// The register file: e-classes, the root first.
    pub(crate) registers: Box<[Id]>,
    /// Bound attributes, dtypes, extents and lists of e-classes.
    pub(crate) slots: Slots<Id, AttrId>,
    /// The matched e-nodes, each with its class, in the order of the pattern's terms.
    pub(crate) nodes: Box<[(Id, Node)]>,
}

/// Returns up to `limit` matches of `rule` at the class `root`.
pub(crate) fn search_at<'a, 'r>(
    subject: InEgraph<'a, 'r>,
    rule: &Rule,
    root: Id,
    limit: usize,
    workspace: &mut WorkspaceFor<InEgraph<'a, 'r>>,
) -> Vec<Match> {
    let condition = rule.condition.as_ref();
    search_if(subject, rule, root, limit, workspace, |scope| {
        condition.is_none_or(|condition| condition.holds(scope) == Some(true))
    })
}

/// Like [`search_at`], with `accepts` instead of the rule's condition.
pub(crate) fn search_if<'a, 'r>(
    subject: InEgraph<'a, 'r>,
    rule: &Rule,
    root: Id,
    limit: usize,
    workspace: &mut WorkspaceFor<InEgraph<'a, 'r>>,
    accepts: impl Fn(&Scope<'_, InEgraph<'a, 'r>>) -> bool,
) -> Vec<Match> {
    let mut all: Vec<Match> = Vec::new();
    let mut accept = |found: matcher::Match<'_, InEgraph<'a, 'r>>| {
        let scope = Scope {
            subject: &subject,
            registers: found.registers,
            slots: found.slots,
        };
        if accepts(&scope) {
            let nodes = found.ops.iter();
            all.push(Match {
                registers: found.registers.into(),
                slots: found.slots.clone(),
                nodes: nodes.map(|&(class, node)| (class, node.clone())).collect(),
            });
        }
        all.len() < limit
    };
    matcher::search(&subject, &rule.pattern, root, workspace, &mut accept);
    all
}

impl<'a> InEgraph<'a, '_> {
    /// Returns the class of `value`.
    fn class(&self, value: Id) -> &'a Class {
        let class = self.egraph.find(value);
        let known = self.view.and_then(|view| view.class(class));
        known.unwrap_or_else(|| &self.egraph[class])
    }
}

impl<'a> Subject for InEgraph<'a, '_> {
    type Value = Id;
    type Attr = AttrId;
    type Op = &'a Node;

    fn number(value: Id) -> usize {
        usize::from(value)
    }

    fn canonical(&self, value: Id) -> Id {
        self.egraph.find(value)
    }

    fn op(&self, value: Id, op: OpIx, nth: usize) -> Option<&'a Node> {
        let nodes = &self.class(value).nodes;
        let from = nodes.partition_point(|node| node.head < Head::Op(op));
        nodes
            .get(from + nth)
            .filter(|node| node.head == Head::Op(op))
    }

    fn operands(&self, op: &'a Node) -> &[Id] {
        &op.children
    }

    fn op_attr(&self, op: &'a Node, index: usize) -> AttrId {
        self.egraph.analysis.store.payload(op.payload).attrs[index]
    }

    fn attr(&self, attr: AttrId) -> Option<AttrValue> {
        Some(self.egraph.analysis.store.attr(attr).clone())
    }

    fn same_attr(&self, a: AttrId, b: AttrId) -> bool {
        a == b
    }

    fn attr_is(&self, attr: AttrId, value: &AttrValue) -> bool {
        self.egraph.analysis.store.attr(attr) == value
    }

    fn ty(&self, value: Id) -> TypeView<'_> {
        self.egraph.analysis.store.ty(self.class(value).data.ty)
    }
}

impl Knowledge for InEgraph<'_, '_> {
    fn facts(&self, value: usize) -> Facts {
        self.class(Id::from(value)).data.facts
    }

    fn constant(&self, value: usize) -> Option<&Constant> {
        let constant = self.class(Id::from(value)).data.constant?;
        Some(self.egraph.analysis.store.constants.get(constant))
    }

    fn uses(&self, value: usize) -> u32 {
        let class = usize::from(self.egraph.find(Id::from(value)));
        self.uses.get(class).copied().unwrap_or(0)
    }
}
