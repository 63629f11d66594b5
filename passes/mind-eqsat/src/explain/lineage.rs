//! The rules that led from an op of the program to the e-node that was chosen for its class.

use std::collections::VecDeque;

use egg::Id;
use mind_diag::Span;
use mind_ir::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::egraph::provenance::{ApplicationIx, Origin};
use crate::extract::{Choice, ClassIx, Dense, NodeContent, NodeIx};
use crate::fusion::body::Group;
use crate::load::Loaded;
use crate::report::{Cause, RuleStep};

/// The most equalities that are explained for one change.
const FUEL: usize = 4096;

/// The unions of a region, as a graph between the e-nodes that they united.
pub(crate) struct Lineage<'a, 'r> {
    loaded: &'a Loaded<'r>,
    dense: &'a Dense,
    choice: &'a Choice,
    groups: &'a [Group],
    /// For each e-node, the e-nodes with which it was united and the index of the union.
    edges: Vec<SmallVec<[(NodeIx, u32); 2]>>,
    /// The first op of the program that each e-node represents.
    program: FxHashMap<NodeIx, usize>,
}

/// The steps found so far: each application once, after the applications that added the e-nodes it matched.
#[derive(Default)]
struct Steps {
    list: Vec<Origin>,
    seen: FxHashSet<ApplicationIx>,
    helpers: FxHashSet<ClassIx>,
    /// The pairs of ids whose equality was explained already.
    equal: FxHashSet<(Id, Id)>,
}

impl<'a, 'r> Lineage<'a, 'r> {
    /// Builds the graph of the unions of `loaded`, with the numbering of `dense`.
    pub(crate) fn new(
        loaded: &'a Loaded<'r>,
        dense: &'a Dense,
        choice: &'a Choice,
        groups: &'a [Group],
    ) -> Lineage<'a, 'r> {
        let mut edges = vec![SmallVec::new(); dense.nodes.len()];
        let unions = loaded.egraph.analysis.provenance.unions.iter();
        for (number, union) in unions.enumerate() {
            let [a, b] = union.sides.map(|side| dense.node_of(side));
            edges[a as usize].push((b, number as u32));
            edges[b as usize].push((a, number as u32));
        }
        let mut program = FxHashMap::default();
        for (at, node) in dense.program.iter().enumerate() {
            if let Some(node) = *node {
                program.entry(node).or_insert(at);
            }
        }
        Lineage {
            loaded,
            dense,
            choice,
            groups,
            edges,
            program,
        }
    }

    /// Returns the steps, in order, from op `at` of the region to its replacement: the e-node chosen for its class, or
    /// the first op of the program that computes the class, which may have a change of its own.
    ///
    /// The list is empty if both were the same e-node from the start. The proofs of facts that conditions rely on are
    /// not included.
    pub(crate) fn steps(&self, g: &Graph, at: usize) -> Vec<RuleStep> {
        let own = &self.loaded.ops[at];
        let class = self.dense.class_of(own.class);
        let mut steps = Steps::default();
        let from = own.node.or_else(|| self.oldest(class));
        let first = self.dense.class(class).program.map(|first| first as usize);
        let known = first.filter(|&first| first != at && !self.choice.is_given(self.dense, class));
        let chosen = self.choice.node(class);
        let content = chosen.map(|node| self.dense.node(node).content);
        let group = match (known, content) {
            (None, Some(NodeContent::Group(group))) => Some(&self.groups[group as usize]),
            _ => None,
        };
        match (known, group) {
            (Some(first), _) => {
                let to = self.loaded.ops[first].node.or_else(|| self.oldest(class));
                self.equal(from, to, &mut steps);
            }
            (None, Some(group)) => self.follow_group(group, &mut steps),
            (None, None) => {
                if let Some(node) = chosen {
                    self.follow(from, node, &mut steps);
                }
            }
        }
        let span = g.span(own.op);
        let mut list: Vec<RuleStep> = Vec::with_capacity(steps.list.len() + 1);
        list.extend(steps.list.iter().map(|&origin| self.step(g, origin, span)));
        list.extend(group.map(|group| RuleStep {
            cause: group.rule.map_or(Cause::Fusion, Cause::Rule),
            reversed: false,
            span,
        }));
        list
    }

    /// Returns the oldest e-node of a class.
    fn oldest(&self, class: ClassIx) -> Option<Id> {
        let node = *self.dense.class(class).nodes.first()?;
        self.dense.node(node).id
    }

    fn follow_group(&self, group: &Group, steps: &mut Steps) {
        for member in &group.members {
            let class = self.dense.node(member.node).class;
            let program = self.dense.class(class).program;
            let own = program.and_then(|op| self.loaded.ops[op as usize].node);
            self.follow(own.or_else(|| self.oldest(class)), member.node, steps);
        }
    }

    fn follow(&self, from: Option<Id>, to: NodeIx, steps: &mut Steps) {
        let id = self.dense.node(to).id;
        self.equal(from, id, steps);
        if let Some(id) = id {
            self.include_made(id, steps);
        }
        for &child in &self.dense.node(to).children {
            self.include_helper(child, steps);
        }
    }

    /// Adds the steps that made two e-nodes of a class equal.
    fn equal(&self, from: Option<Id>, to: Option<Id>, steps: &mut Steps) {
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        if from == to || steps.equal.len() >= FUEL || !steps.equal.insert((from, to)) {
            return;
        }
        let mut at = from;
        for (number, forward) in self.path(self.dense.node_of(from), self.dense.node_of(to)) {
            let union = self.loaded.egraph.analysis.provenance.unions[number as usize];
            let [a, b] = union.sides;
            let (near, far) = if forward { (a, b) } else { (b, a) };
            self.congruent(at, near, steps);
            self.include(union.origin, steps);
            at = far;
        }
        self.congruent(at, to, steps);
    }

    /// Adds the steps that made the operands of two congruent ids equal: ids of one e-node now.
    fn congruent(&self, a: Id, b: Id, steps: &mut Steps) {
        if a == b || self.dense.node_of(a) != self.dense.node_of(b) {
            return;
        }
        let operands = |id: Id| &self.loaded.egraph.id_to_node(id).children;
        for (&x, &y) in operands(a).iter().zip(operands(b)) {
            // The operands of a commutative op may be in another order.
            if self.dense.class_of(x) == self.dense.class_of(y) {
                self.equal(Some(x), Some(y), steps);
            }
        }
    }

    /// Returns the unions on the shortest path between two e-nodes of a class, each with whether the path crosses it
    /// from its first side to its second.
    fn path(&self, from: NodeIx, to: NodeIx) -> Vec<(u32, bool)> {
        let mut came: FxHashMap<NodeIx, (NodeIx, u32)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            for &(next, number) in &self.edges[node as usize] {
                if next != from && !came.contains_key(&next) {
                    came.insert(next, (node, number));
                    queue.push_back(next);
                }
            }
        }
        let unions = &self.loaded.egraph.analysis.provenance.unions;
        let mut path = Vec::new();
        let mut at = to;
        while let Some(&(before, number)) = came.get(&at) {
            let first = self.dense.node_of(unions[number as usize].sides[0]);
            path.push((number, first == before));
            at = before;
        }
        path.reverse();
        path
    }

    /// Adds an application, after the applications that added the e-nodes it matched and made them equal.
    fn include(&self, origin: Origin, steps: &mut Steps) {
        match origin {
            Origin::Program => {}
            Origin::Folding if steps.list.contains(&Origin::Folding) => {}
            Origin::Folding => steps.list.push(origin),
            Origin::Rule(number) => {
                if !steps.seen.insert(number) {
                    return;
                }
                let matched = self.loaded.egraph.analysis.provenance.matched(number);
                for &id in matched {
                    self.include_made(id, steps);
                }
                self.include_links(matched, steps);
                steps.list.push(origin);
            }
        }
    }

    /// Adds the steps that made operands of the matched e-nodes equal to each other, and to the e-nodes matched for
    /// them.
    fn include_links(&self, matched: &[Id], steps: &mut Steps) {
        let mut known: FxHashMap<ClassIx, Id> = FxHashMap::default();
        for &id in matched.iter().skip(1) {
            known.entry(self.dense.class_of(id)).or_insert(id);
        }
        for &id in matched {
            for &child in &self.loaded.egraph.id_to_node(id).children {
                match known.get(&self.dense.class_of(child)) {
                    Some(&other) => self.equal(Some(child), Some(other), steps),
                    None => {
                        known.insert(self.dense.class_of(child), child);
                    }
                }
            }
        }
    }

    fn include_made(&self, id: Id, steps: &mut Steps) {
        self.include(self.loaded.egraph.analysis.provenance.origin(id), steps);
    }

    /// Adds the steps that made the chosen form of a class that the program does not compute.
    fn include_helper(&self, class: ClassIx, steps: &mut Steps) {
        let helper = self.dense.class(class).program.is_none();
        if !helper || !steps.helpers.insert(class) {
            return;
        }
        let Some(node) = self.choice.node(class) else {
            return;
        };
        if let Some(id) = self.dense.node(node).id {
            self.include_made(id, steps);
        }
        for &child in &self.dense.node(node).children {
            self.include_helper(child, steps);
        }
    }

    fn step(&self, g: &Graph, origin: Origin, span: Span) -> RuleStep {
        let Origin::Rule(number) = origin else {
            return RuleStep {
                cause: Cause::Folding,
                reversed: false,
                span,
            };
        };
        let provenance = &self.loaded.egraph.analysis.provenance;
        let application = provenance.application(number);
        let root = provenance.matched(number).first();
        let program = root.and_then(|&id| self.program.get(&self.dense.node_of(id)));
        let place = program.map(|&at| g.span(self.loaded.ops[at].op));
        RuleStep {
            cause: Cause::Rule(application.rule),
            reversed: application.reversed,
            span: place.unwrap_or(span),
        }
    }
}
