//! Fusion candidates for the extraction, which chooses between them and the plain ops by cost.
//!
//! Candidates are built around each contraction and each group that a rule file names. They contain the transposes that
//! a contraction can read through, and elementwise ops that can follow at the same positions.

use std::collections::BTreeSet;

use mind_ir::kernel::{self, Read, Source, Step};
use mind_ir::listener::Listener;
use mind_ir::types::Dim;
use rustc_hash::FxHashSet;

use super::body::Group;
use super::flat::{axes, step_kind};
use crate::context::Context;
use crate::cost::{CostClass, Inner};
use crate::egraph::language::{Head, Node};
use crate::extract::{ClassIx, Dense, NodeContent, NodeIx, Rank};
use crate::load::Loaded;
use crate::report::RuleStats;
use crate::search::{Hit, InEgraph, Match, Query, RuleIndex};
use mind_rules::Phase;
use mind_rules::RuleIx;
use mind_rules::matching::pattern::Effect;

/// The most classes that are visited to check that a group reads no value which depends on its own results.
const LOOK_BACK: usize = 64;

/// The ops that a group starts from, in topological order.
#[derive(PartialEq, Eq)]
struct Seed {
    kind: &'static str,
    /// The rule that names it.
    rule: Option<RuleIx>,
    nodes: Vec<NodeIx>,
}

/// Adds groups to `dense` as e-nodes of the classes of their results. Returns the groups by index.
pub(crate) fn propose(
    loaded: &Loaded<'_>,
    dense: &mut Dense,
    cx: &Context<'_>,
    index: &RuleIndex<'_>,
    stats: &mut [RuleStats],
    listener: &dyn Listener,
) -> Vec<Group> {
    let mut seeds = named(loaded, dense, cx, index, stats, listener);
    seeds.extend(contractions(loaded, dense));
    seeds.sort_by_key(|seed| {
        seed.nodes
            .last()
            .map(|&node| (result_rank(dense, node), node))
    });
    let mut readers: Vec<Vec<NodeIx>> = vec![Vec::new(); dense.classes.len()];
    for (at, node) in dense.nodes.iter().enumerate() {
        for &child in &node.children {
            let readers = &mut readers[child as usize];
            // An e-node that reads a class twice is listed once.
            if readers.last() != Some(&(at as NodeIx)) {
                readers.push(at as NodeIx);
            }
        }
    }
    let mut proposals = Proposals {
        loaded,
        dense,
        cx,
        readers,
        groups: Vec::new(),
    };
    // Extraction keeps the first of several groups of equal cost, so groups that rules name come before groups that
    // grew.
    for seed in seeds.iter().filter(|seed| seed.nodes.len() > 1) {
        proposals.propose(seed, &seed.nodes);
    }
    for seed in &seeds {
        proposals.grow(seed);
    }
    proposals.groups
}

fn result_rank(dense: &Dense, node: NodeIx) -> Rank {
    dense.class(dense.node(node).class).rank
}

/// Returns the groups that rule files name.
fn named(
    loaded: &Loaded<'_>,
    dense: &Dense,
    cx: &Context<'_>,
    index: &RuleIndex<'_>,
    stats: &mut [RuleStats],
    listener: &dyn Listener,
) -> Vec<Seed> {
    let uses = loaded.uses();
    let view = index.view(&loaded.egraph);
    let subject = InEgraph {
        egraph: &loaded.egraph,
        uses: &uses,
        view: None,
    };
    let query = Query {
        roots: &view.roots(),
        phases: &[Phase::Fusion],
        limit: cx.limits.matches * loaded.ops.len().max(16),
    };
    let mut hits = index.matches(subject, &view, &query, stats, listener);
    hits.sort_by_key(|hit| hit.form);
    let mut seeds = Vec::new();
    for Hit { rule, found, .. } in hits {
        let Effect::Group(kind) = rule.effect else {
            continue;
        };
        stats[rule.name.index()].matched += 1;
        if let Some(nodes) = members(loaded, dense, &found) {
            stats[rule.name.index()].applied += 1;
            let seed = Seed {
                kind,
                rule: Some(rule.name),
                nodes,
            };
            if seeds.last() != Some(&seed) {
                seeds.push(seed);
            }
        }
    }
    seeds
}

/// Returns the e-nodes of a match without duplicates, in topological order; `None` if one cannot be chosen.
fn members(loaded: &Loaded<'_>, dense: &Dense, found: &Match) -> Option<Vec<NodeIx>> {
    let mut nodes: Vec<NodeIx> = Vec::new();
    for (id, node) in &found.nodes {
        let class = dense.class_of(*id);
        if nodes.iter().any(|&known| dense.node(known).class == class) {
            continue;
        }
        let number = find(dense, class, node)?;
        dense
            .selectable(loaded, number)
            .then(|| nodes.push(number))?;
    }
    nodes.sort_by_key(|&node| result_rank(dense, node));
    Some(nodes)
}

fn find(dense: &Dense, class: ClassIx, node: &Node) -> Option<NodeIx> {
    let content = NodeContent::Node {
        head: node.head,
        payload: node.payload,
    };
    let same = |&number: &NodeIx| {
        let own = dense.node(number);
        let children = node.children.iter().map(|&child| dense.class_of(child));
        own.content == content && own.children.iter().copied().eq(children)
    };
    dense.class(class).nodes.iter().copied().find(same)
}

/// Returns each contraction, for matrix products with the transposes of their operands.
fn contractions(loaded: &Loaded<'_>, dense: &Dense) -> Vec<Seed> {
    let store = &loaded.egraph.analysis.store;
    let class_of = |node: NodeIx| match dense.node(node).content {
        NodeContent::Node {
            head: Head::Op(op), ..
        } => Some(store.costs.class(op)),
        _ => None,
    };
    let mut seeds = Vec::new();
    for number in 0..dense.nodes.len() as NodeIx {
        let Some(CostClass::Contraction(inner)) = class_of(number) else {
            continue;
        };
        if !dense.selectable(loaded, number) {
            continue;
        }
        let read: &[ClassIx] = match inner {
            Inner::LastOfLhs => &dense.node(number).children,
            Inner::AllButLastOfRhs => &[],
        };
        let mut nodes: Vec<NodeIx> = Vec::new();
        for &child in read {
            let mut within = dense.class(child).nodes.iter().copied();
            let permutes = within.find(|&node| {
                class_of(node) == Some(CostClass::Permute) && dense.selectable(loaded, node)
            });
            nodes.extend(permutes.filter(|node| !nodes.contains(node)));
        }
        nodes.push(number);
        seeds.push(Seed {
            kind: "contraction",
            rule: None,
            nodes,
        });
    }
    seeds
}

struct Proposals<'p, 'r> {
    loaded: &'p Loaded<'r>,
    dense: &'p mut Dense,
    cx: &'p Context<'p>,
    /// The e-nodes that read each class.
    readers: Vec<Vec<NodeIx>>,
    groups: Vec<Group>,
}

impl Proposals<'_, '_> {
    /// Proposes the seed together with each prefix of the elementwise ops that follow it.
    fn grow(&mut self, seed: &Seed) {
        let Some(&result) = seed.nodes.last() else {
            return;
        };
        let start = self.dense.node(result).class;
        let mut members = seed.nodes.clone();
        let mut open: BTreeSet<(Rank, NodeIx)> = BTreeSet::new();
        self.open(start, &mut open);
        let mut proposed = 0;
        while let Some((_, node)) = open.pop_first() {
            if proposed == self.cx.limits.proposals || members.len() >= self.cx.limits.group_ops {
                break;
            }
            if !self.follows(start, &members, node) {
                continue;
            }
            members.push(node);
            let slice = self.slice(&members);
            self.propose(seed, &slice);
            proposed += 1;
            self.open(self.dense.node(node).class, &mut open);
        }
    }

    fn open(&self, class: ClassIx, open: &mut BTreeSet<(Rank, NodeIx)>) {
        let readers = self.readers[class as usize].iter();
        open.extend(readers.map(|&node| (result_rank(self.dense, node), node)));
    }

    /// Returns whether `node` is elementwise at the positions of `start`, and reads no value from outside that depends
    /// on the group.
    fn follows(&self, start: ClassIx, members: &[NodeIx], node: NodeIx) -> bool {
        let row = self.dense.node(node);
        let NodeContent::Node {
            head: Head::Op(op), ..
        } = row.content
        else {
            return false;
        };
        let store = &self.loaded.egraph.analysis.store;
        let is_member = |class: ClassIx| {
            members
                .iter()
                .any(|&member| self.dense.node(member).class == class)
        };
        if store.costs.class(op) != CostClass::Elementwise
            || is_member(row.class)
            || !self.dense.selectable(self.loaded, node)
        {
            return false;
        }
        let shape = |class: ClassIx| store.ty(self.dense.class(class).ty).shape;
        if shape(row.class) != shape(start) || shape(start).contains(&Dim::Dynamic) {
            return false;
        }
        let outside = row.children.iter().filter(|&&child| !is_member(child));
        let mut outside = outside.copied();
        outside.all(|child| self.independent(child, start, &is_member))
    }

    /// Returns whether `class` certainly does not depend on any member of the group.
    fn independent(
        &self,
        class: ClassIx,
        start: ClassIx,
        is_member: &dyn Fn(ClassIx) -> bool,
    ) -> bool {
        let least = self.dense.class(start).rank;
        let mut seen: Vec<ClassIx> = vec![class];
        let mut known: FxHashSet<ClassIx> = seen.iter().copied().collect();
        let mut at = 0;
        while at < seen.len() {
            let class = seen[at];
            at += 1;
            if self.dense.class(class).rank < least {
                continue;
            }
            if is_member(class) || seen.len() > LOOK_BACK {
                return false;
            }
            let row = self.dense.class(class);
            let own = row.program.and_then(|op| self.dense.program[op as usize]);
            let Some(node) = own.or(row.nodes.first().copied()) else {
                return false;
            };
            for &child in &self.dense.node(node).children {
                if known.insert(child) {
                    seen.push(child);
                }
            }
        }
        true
    }

    /// Returns the last member and the members on which it depends.
    fn slice(&self, members: &[NodeIx]) -> Vec<NodeIx> {
        let mut needed = vec![false; members.len()];
        if let Some(last) = needed.last_mut() {
            *last = true;
        }
        for at in (0..members.len()).rev() {
            if !needed[at] {
                continue;
            }
            for &child in &self.dense.node(members[at]).children {
                let producer = members[..at]
                    .iter()
                    .position(|&member| self.dense.node(member).class == child);
                if let Some(producer) = producer {
                    needed[producer] = true;
                }
            }
        }
        let kept = members.iter().zip(needed).filter(|(_, needed)| *needed);
        kept.map(|(&member, _)| member).collect()
    }

    fn propose(&mut self, seed: &Seed, nodes: &[NodeIx]) {
        let limits = &self.cx.limits;
        let (group, operands) = Group::new(self.dense, seed.kind, seed.rule, nodes);
        let is_small = nodes.len() <= limits.group_ops && operands.len() <= limits.group_operands;
        if !is_small || !self.has_form(nodes) {
            return;
        }
        let store = &self.loaded.egraph.analysis.store;
        let number = self.groups.len() as u32;
        if let Some(node) = group.node(self.dense, store, number, operands) {
            self.dense.push(node);
            self.groups.push(group);
        }
    }

    /// Returns whether one kernel can compute the class of the last of `nodes`.
    fn has_form(&self, nodes: &[NodeIx]) -> bool {
        let steps: Option<Vec<Step<'_>>> =
            (0..nodes.len()).map(|at| self.step(nodes, at)).collect();
        steps.is_some_and(|steps| kernel::form(&steps).is_ok())
    }

    fn step(&self, nodes: &[NodeIx], at: usize) -> Option<Step<'_>> {
        let (dense, store) = (&self.dense, &self.loaded.egraph.analysis.store);
        let node = dense.node(nodes[at]);
        let NodeContent::Node {
            head: Head::Op(op),
            payload,
        } = node.content
        else {
            return None;
        };
        let shape = |class: ClassIx| store.ty(dense.class(class).ty).shape;
        let reads = node.children.iter().map(|&child| {
            let member = nodes[..at]
                .iter()
                .position(|&own| dense.node(own).class == child);
            Read {
                from: member.map_or(Source::Operand, Source::Step),
                shape: shape(child),
            }
        });
        let rank = || node.children.first().map(|&child| shape(child).len());
        let attrs = &store.payload(payload).attrs;
        let attr = |name: &str| {
            let index = store.ops.def(op).attr_index(name)?;
            Some(store.attr(attrs[index]).as_attr())
        };
        let class = store.costs.class(op);
        let classes = std::iter::once(node.class).chain(node.children.iter().copied());
        let types = classes.map(|class| store.ty(dense.class(class).ty));
        Some(Step {
            kind: step_kind(class, types.clone()),
            width: kernel::width(types.map(|ty| ty.dtype)),
            axes: axes(class, rank, attr)?,
            result: shape(node.class),
            reads: reads.collect(),
            leaves: at + 1 == nodes.len(),
        })
    }
}
