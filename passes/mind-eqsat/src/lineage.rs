//! Which rules led from an op of the program to the e-node that was chosen for its class.

use std::collections::VecDeque;

use egg::Id;
use mind_diag::Span;
use mind_ir::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::egraph::language::Head;
use crate::egraph::provenance::{ApplicationIx, Origin};
use crate::extract::{Choice, ClassIx, Dense, NodeIx, What};
use crate::fusion::body::Group;
use crate::load::Loaded;
use crate::report::RuleStep;

/// The unions of a region, between the e-nodes that they joined.
pub(crate) struct Lineage<'a, 'r> {
    loaded: &'a Loaded<'r>,
    dense: &'a Dense,
    choice: &'a Choice,
    groups: &'a [Group],
    edges: Vec<SmallVec<[(NodeIx, Origin); 2]>>,
    /// The first op of the program that each e-node is.
    program: FxHashMap<NodeIx, usize>,
}

/// The steps found so far, each application once and after those that made what it matched.
#[derive(Default)]
struct Steps {
    list: Vec<Origin>,
    seen: FxHashSet<ApplicationIx>,
    helpers: FxHashSet<ClassIx>,
}

impl<'a, 'r> Lineage<'a, 'r> {
    /// The unions of `loaded`, whose classes and e-nodes `dense` numbers.
    pub(crate) fn new(
        loaded: &'a Loaded<'r>,
        dense: &'a Dense,
        choice: &'a Choice,
        groups: &'a [Group],
    ) -> Lineage<'a, 'r> {
        let mut edges = vec![SmallVec::new(); dense.nodes.len()];
        for union in &loaded.egraph.analysis.provenance.unions {
            let [a, b] = union.sides.map(|side| dense.node_of(side));
            edges[a as usize].push((b, union.origin));
            edges[b as usize].push((a, union.origin));
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

    /// What led from op `at` of the region to the value that stands for it now, in order: to the e-node
    /// chosen for its class, or to the op of the program that computes the class first, which may
    /// change by itself.
    ///
    /// Empty where only operands changed. What proved the facts that conditions asked for is not followed.
    pub(crate) fn steps(&self, g: &Graph, at: usize) -> Vec<RuleStep> {
        let own = &self.loaded.ops[at];
        let class = self.dense.class_of(self.loaded.classes[&own.result]);
        let mut steps = Steps::default();
        let from = self.start(class, self.dense.program[at]);
        let first = self.dense.class(class).program.map(|first| first as usize);
        let known = first.filter(|&first| first != at && !self.choice.is_given(self.dense, class));
        let to = match known {
            Some(first) => self.dense.program[first],
            None => self.choice.node(class),
        };
        if let (Some(from), Some(to)) = (from, to) {
            self.follow(from, to, &mut steps);
        }
        let span = g.span(own.op);
        let mut list: Vec<RuleStep> = Vec::with_capacity(steps.list.len() + 1);
        list.extend(steps.list.iter().map(|&origin| self.step(g, origin, span)));
        if let Some(What::Group(group)) = to.map(|to| self.dense.node(to).what) {
            let rule = self.groups[group as usize].rule;
            list.extend(rule.map(|rule| RuleStep {
                rule: Some(rule),
                reversed: false,
                span,
            }));
        }
        list
    }

    /// The e-node of an op of the program; where it has none, the oldest of its class.
    fn start(&self, class: ClassIx, own: Option<NodeIx>) -> Option<NodeIx> {
        own.or_else(|| self.dense.class(class).nodes.first().copied())
    }

    fn follow(&self, from: NodeIx, to: NodeIx, steps: &mut Steps) {
        let members = match self.dense.node(to).what {
            What::Node { .. } => return self.follow_node(from, to, steps),
            What::Group(group) => &self.groups[group as usize].members,
        };
        for member in members {
            let class = self.dense.node(member.node).class;
            let program = self.dense.class(class).program;
            let own = program.and_then(|op| self.dense.program[op as usize]);
            if let Some(start) = self.start(class, own) {
                self.follow_node(start, member.node, steps);
            }
        }
    }

    fn follow_node(&self, from: NodeIx, to: NodeIx, steps: &mut Steps) {
        for origin in self.path(from, to) {
            self.include(origin, steps);
        }
        self.include_maker(to, steps);
        for &child in &self.dense.node(to).children {
            self.include_helper(child, steps);
        }
    }

    /// The unions on the shortest way between two e-nodes of a class.
    fn path(&self, from: NodeIx, to: NodeIx) -> Vec<Origin> {
        let mut came: FxHashMap<NodeIx, (NodeIx, Origin)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            for &(next, origin) in &self.edges[node as usize] {
                if next != from && !came.contains_key(&next) {
                    came.insert(next, (node, origin));
                    queue.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while let Some(&(before, origin)) = came.get(&at) {
            path.push(origin);
            at = before;
        }
        path.reverse();
        path
    }

    /// Adds an application, after those that made what it matched. Each matched only what was there
    /// before its round, so the depth is bounded by the number of rounds.
    fn include(&self, origin: Origin, steps: &mut Steps) {
        match origin {
            Origin::Program => {}
            Origin::Folding if steps.list.contains(&Origin::Folding) => {}
            Origin::Folding => steps.list.push(origin),
            Origin::Rule(number) => {
                if !steps.seen.insert(number) {
                    return;
                }
                for &id in self.loaded.egraph.analysis.provenance.matched(number) {
                    self.include_made(id, steps);
                }
                steps.list.push(origin);
            }
        }
    }

    fn include_made(&self, id: Id, steps: &mut Steps) {
        let node = self.dense.node_of(id);
        let class = self.dense.node(node).class;
        if let (true, Some(oldest)) = (self.is_constant(node), self.start(class, None)) {
            for origin in self.path(oldest, node) {
                self.include(origin, steps);
            }
        }
        self.include(self.loaded.egraph.analysis.provenance.origin(id), steps);
    }

    fn is_constant(&self, node: NodeIx) -> bool {
        let what = self.dense.node(node).what;
        matches!(
            what,
            What::Node {
                head: Head::Const,
                ..
            }
        )
    }

    fn include_maker(&self, node: NodeIx, steps: &mut Steps) {
        if let Some(id) = self.dense.node(node).id {
            self.include_made(id, steps);
        }
    }

    /// Adds what made the chosen form of a class that the program does not compute.
    fn include_helper(&self, class: ClassIx, steps: &mut Steps) {
        let helper = self.dense.class(class).program.is_none();
        if !helper || !steps.helpers.insert(class) {
            return;
        }
        let Some(node) = self.choice.node(class) else {
            return;
        };
        self.include_maker(node, steps);
        for &child in &self.dense.node(node).children {
            self.include_helper(child, steps);
        }
    }

    fn step(&self, g: &Graph, origin: Origin, span: Span) -> RuleStep {
        let Origin::Rule(number) = origin else {
            return RuleStep {
                rule: None,
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
            rule: Some(application.rule),
            reversed: application.reversed,
            span: place.unwrap_or(span),
        }
    }
}
