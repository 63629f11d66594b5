//! Grouping by cost: pairs of groups merge, the pair that saves the most bytes first.
//!
//! Invariant: every group has the position of one of its ops, and every value is defined by a group at a lower position
//! than its readers. Merges keep the invariant, so groups stay convex and no cycle between groups arises.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mind_core::region::settled;
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::kernel::{self, KernelForm};
use mind_ir::listener::{CostChange, Listener, Rewrite, Step};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::build::{Body, build, is_copied_along};
use super::cluster::{Cluster, Field};
use super::flat::Flattener;
use super::pair::{known_form, name};
use crate::context::Context;
use crate::cost::{CostTable, Price, op_price};
use crate::region::Program;
use crate::report::{MissedFusion, MissedReason, Report};
use mind_rules::FUSION;

/// Groups the ops of the module's body, including fused ones. Returns whether any group was made.
pub(crate) fn group(
    g: &mut Graph,
    cx: &Context<'_>,
    costs: &CostTable<'_>,
    report: &mut Report,
    listener: &mut dyn Listener,
) -> bool {
    let program = Program::of(g);
    let settled = settled(g);
    let field = Field {
        g,
        cx,
        costs,
        program: &program,
        settled: &settled,
    };
    let mut grouping = Grouping::new(field);
    grouping.run();
    report.missed = grouping.missed();
    let clusters = grouping.clusters.into_iter().flatten();
    let several = clusters.filter(|cluster| cluster.members.len() > 1);
    let mut groups: Vec<(u32, String, Vec<u32>)> = several
        .map(|cluster| {
            let kind = cluster.kind().to_owned();
            (cluster.position, kind, cluster.members)
        })
        .collect();
    groups.sort_unstable_by_key(|(position, ..)| *position);
    let mut made = false;
    for (position, kind, members) in &groups {
        if !listener.admit(&[FUSION]) {
            continue;
        }
        made = true;
        let ops: Vec<_> = members.iter().map(|&at| program.ops[at as usize]).collect();
        let before = program.ops[*position as usize];
        let apart = ops.iter().fold(Price::default(), |price, &op| {
            price.plus(op_price(g, costs, op))
        });
        let fused = build(g, cx, kind, &Body { ops: &ops, before });
        let values: SmallVec<[ValueId; 2]> = g.results(fused).into_iter().collect();
        let rewrite = Rewrite {
            op: before,
            values: &values,
            helpers: &[],
            steps: &[Step::built_in(FUSION, g.span(before))],
            cost: Some(CostChange {
                before: apart.cost,
                after: op_price(g, costs, fused).cost,
            }),
        };
        listener.applied(g, &rewrite);
    }
    made
}

/// Two ops, by position, whose groups may merge because one reads the other, or both read the same value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    /// The number of bytes that the merge saves, as of when the edge was queued. It only grows, because groups do. Ties
    /// go to earlier ops.
    saved: u64,
    later: Reverse<u32>,
    earlier: Reverse<u32>,
}

struct Grouping<'a> {
    field: Field<'a>,
    flattener: Flattener<'a>,
    /// The group at each position; `None` after it was merged into another, and for ops that cannot be grouped.
    clusters: Vec<Option<Cluster<'a>>>,
    /// The leader of the group of each position.
    leaders: Vec<u32>,
    readers: Vec<Option<SmallVec<[u32; 2]>>>,
    refused: Vec<(u32, u32, MissedReason)>,
    /// The pairs that were refused because of their contents, regardless of the ops between them.
    settled: FxHashSet<((u32, u32), (u32, u32))>,
}

impl<'a> Grouping<'a> {
    fn new(field: Field<'a>) -> Grouping<'a> {
        let len = field.program.ops.len() as u32;
        let mut flattener = Flattener::new(field.g, field.costs);
        let readers = field.readers();
        let live = field.live(&readers);
        let single = |at: u32| {
            let groupable = live[at as usize] && readers[at as usize].is_some();
            field.single(at, &mut flattener).filter(|_| groupable)
        };
        let clusters = (0..len).map(single).collect();
        Grouping {
            field,
            flattener,
            clusters,
            leaders: (0..len).collect(),
            readers,
            refused: Vec::new(),
            settled: FxHashSet::default(),
        }
    }

    /// Merges groups until a fixed point.
    fn run(&mut self) {
        while self.round() {}
    }

    /// Tries every edge once; returns false if no groups merged.
    fn round(&mut self) -> bool {
        let mut queue: BinaryHeap<Edge> = BinaryHeap::new();
        for at in 0..self.leaders.len() as u32 {
            self.edges(at, &mut queue);
        }
        let mut changed = false;
        while let Some(edge) = queue.pop() {
            let (Reverse(earlier), Reverse(later)) = (edge.earlier, edge.later);
            let (a, b) = (self.leader(earlier), self.leader(later));
            if a == b {
                continue;
            }
            // The position in the queue is not updated, because merges only add to the savings of other edges.
            debug_assert!(self.saved(earlier, later) >= edge.saved);
            let parts = self.parts(a, b);
            let content = (self.content(a), self.content(b));
            if parts.len() == 2 && self.settled.contains(&content) {
                continue;
            }
            match self.merged(&parts) {
                Ok(merged) => {
                    self.merge(&parts, merged);
                    changed = true;
                }
                Err(reason) => {
                    if parts.len() == 2 && reason != MissedReason::Cycle {
                        self.settled.insert(content);
                    }
                    if self.reads(later, earlier) {
                        self.refused.push((earlier, later, reason));
                    }
                }
            }
        }
        changed
    }

    fn merge(&mut self, parts: &[u32], merged: Cluster<'a>) {
        let leader = parts[parts.len() - 1];
        for &member in &merged.members {
            self.leaders[member as usize] = leader;
        }
        for &part in parts {
            self.clusters[part as usize] = None;
        }
        self.clusters[leader as usize] = Some(merged);
    }

    /// Returns a key of the contents of the group led by `leader`. The size suffices, because groups only grow.
    fn content(&self, leader: u32) -> (u32, u32) {
        let members = self
            .cluster(leader)
            .map_or(0, |cluster| cluster.members.len());
        (leader, members as u32)
    }

    fn leader(&self, at: u32) -> u32 {
        self.leaders[at as usize]
    }

    fn cluster(&self, leader: u32) -> Option<&Cluster<'a>> {
        self.clusters[leader as usize].as_ref()
    }

    /// Returns whether the op at `reader` reads a result of the op at `producer`.
    fn reads(&self, reader: u32, producer: u32) -> bool {
        let readers = self.readers[producer as usize].as_ref();
        readers.is_some_and(|list| list.binary_search(&reader).is_ok())
    }

    /// Queues edges from the op at `at` to its readers in other groups, and between consecutive readers of each of its
    /// values.
    fn edges(&self, at: u32, queue: &mut BinaryHeap<Edge>) {
        let mut push = |earlier: u32, later: u32| {
            if self.leader(earlier) != self.leader(later) {
                queue.push(Edge {
                    saved: self.saved(earlier, later),
                    later: Reverse(later),
                    earlier: Reverse(earlier),
                });
            }
        };
        let Some(readers) = &self.readers[at as usize] else {
            return;
        };
        let grouped = |at: &u32| self.cluster(self.leader(*at)).is_some();
        if grouped(&at) && readers.len() <= self.field.cx.limits.group_ops {
            let readers = readers.iter().copied().filter(grouped);
            readers.for_each(|reader| push(at, reader));
        }
        if readers.len() < 2 {
            return;
        }
        for value in self.field.g.results(self.field.op(at)) {
            let positions = self.field.readers_of(value);
            let mut neighbours: SmallVec<[u32; 4]> = positions.filter(grouped).collect();
            neighbours.sort_unstable_by_key(|&reader| (self.position_of(reader), reader));
            neighbours.dedup_by_key(|reader| self.leader(*reader));
            neighbours.windows(2).for_each(|pair| {
                push(pair[0].min(pair[1]), pair[0].max(pair[1]));
            });
        }
    }

    /// Returns the current position of the op at `at`: that of its group.
    fn position_of(&self, at: u32) -> u32 {
        let cluster = self.cluster(self.leader(at));
        cluster.map_or(at, |cluster| cluster.position)
    }

    /// Returns the bytes that merging the groups of both saves over this edge.
    fn saved(&self, earlier: u32, later: u32) -> u64 {
        let (a, b) = (self.leader(earlier), self.leader(later));
        let field = &self.field;
        let model = &field.costs.model;
        let bytes = |value: ValueId| model.bytes(field.g.ty(value));
        let reads = field.g.operands(field.op(later));
        let results = field.g.results(field.op(earlier)).into_iter();
        let mut saved = 0u64;
        for value in results.filter(|value| reads.contains(value)) {
            let outside = |user| {
                let position = field.program.position(user);
                position.is_none_or(|at| ![a, b].contains(&self.leaders[at]))
            };
            let stays = field.g.uses(value).any(|(user, _)| outside(user));
            let times = if stays { 1 } else { 2 };
            saved = saved.saturating_add(bytes(value).saturating_mul(times));
        }
        if saved == 0 {
            let shared = field.g.operands(field.op(earlier)).iter();
            let shared = shared.filter(|value| reads.contains(value));
            saved = shared.fold(0, |sum, &value| sum.saturating_add(bytes(value)));
        }
        saved
    }

    /// Returns the groups to merge over an edge between `a` and `b`. If `a` is a softmax that the product `b` reads, the
    /// product that computes the operand of the softmax is added, because only all three have a kernel form together.
    fn parts(&self, a: u32, b: u32) -> SmallVec<[u32; 3]> {
        let form = |leader: u32| self.cluster(leader).and_then(|cluster| cluster.form);
        let pair = smallvec![a, b];
        if (form(a), form(b)) != (Some(KernelForm::Rows), Some(KernelForm::Contraction)) {
            return pair;
        }
        let softmax = |cluster: &&Cluster<'a>| cluster.name == Some("softmax");
        let Some(rows) = self.cluster(a).filter(softmax) else {
            return pair;
        };
        let operands = self.field.operands(&rows.members);
        let definitions = operands
            .iter()
            .filter_map(|&value| self.field.program.definition(self.field.g, value));
        let mut products = definitions
            .map(|at| self.leaders[at])
            .filter(|&leader| leader != b && form(leader) == Some(KernelForm::Contraction));
        match products.next() {
            Some(scores) => smallvec![scores, a, b],
            None => pair,
        }
    }

    /// Returns the group of all `parts` if it can run as one kernel, costs less and moves no more bytes.
    fn merged(&mut self, parts: &[u32]) -> Result<Cluster<'a>, MissedReason> {
        let clusters: SmallVec<[&Cluster<'a>; 3]> = parts
            .iter()
            .filter_map(|&part| self.clusters[part as usize].as_ref())
            .collect();
        let limits = &self.field.cx.limits;
        let ops = clusters.iter().map(|cluster| cluster.ops).sum();
        if ops > limits.group_ops {
            return Err(MissedReason::Ops(limits.group_ops));
        }
        let is_settled = clusters.iter().all(|cluster| cluster.is_settled);
        let reduces_weights =
            |cluster: &&Cluster<'a>| cluster.is_settled && cluster.form == Some(KernelForm::Rows);
        if !is_settled && clusters.iter().any(reduces_weights) {
            return Err(MissedReason::Settled);
        }
        let mut members: Vec<u32> = clusters
            .iter()
            .flat_map(|cluster| cluster.members.iter().copied())
            .collect();
        members.sort_unstable();
        let (form, space) = match known_form(&clusters) {
            Some(known) => known?,
            None => {
                let steps = members.iter().map(|&at| self.field.op(at));
                let steps = self.flattener.steps(steps);
                let steps = steps.ok_or(MissedReason::Form("an extent that is not known"))?;
                let form = kernel::form(&steps).map_err(MissedReason::Form)?;
                (form, steps.last().map_or(&[][..], |step| step.result))
            }
        };
        let name = name(form, &clusters)?;
        let operands = self.field.operands(&members).len();
        if operands > limits.group_operands {
            return Err(MissedReason::Operands(limits.group_operands));
        }
        let position = self
            .group_position(parts, &clusters)
            .ok_or(MissedReason::Cycle)?;
        let work = clusters
            .iter()
            .map(|cluster| cluster.work)
            .reduce(|sum, work| sum.plus(work))
            .unwrap_or_default();
        let price = self.field.price(&members, work);
        let apart = clusters
            .iter()
            .fold(Price::default(), |sum, cluster| sum.plus(cluster.price));
        if price.cost >= apart.cost || price.bytes > apart.bytes {
            let (fused, apart) = (price.cost, apart.cost);
            return Err(MissedReason::Cost { apart, fused });
        }
        Ok(Cluster {
            members,
            position,
            ops,
            form: Some(form),
            is_settled,
            name,
            width: clusters
                .iter()
                .map(|cluster| cluster.width)
                .max()
                .unwrap_or(0),
            space,
            work,
            price,
        })
    }

    /// Returns the position of the group of all parts: that of the last part if nothing outside reads the others before
    /// it, else that of the first part if they read nothing from outside after it. `None` if neither is possible.
    fn group_position(&self, parts: &[u32], clusters: &[&Cluster<'a>]) -> Option<u32> {
        let inside = |at: u32| parts.contains(&self.leader(at));
        let members = || clusters.iter().flat_map(|cluster| &cluster.members);
        let last = clusters.iter().map(|cluster| cluster.position).max()?;
        let mut readers = members()
            .filter_map(|&member| self.readers[member as usize].as_ref())
            .flatten();
        if readers.all(|&user| inside(user) || self.position_of(user) > last) {
            return Some(last);
        }
        let first = clusters.iter().map(|cluster| cluster.position).min()?;
        let field = &self.field;
        let mut reads = members()
            .flat_map(|&member| field.g.operands(field.op(member)))
            .filter(|&&value| !is_copied_along(field.g, value))
            .filter_map(|&value| field.program.definition(field.g, value))
            .map(|at| at as u32);
        reads
            .all(|at| inside(at) || self.position_of(at) < first)
            .then_some(first)
    }

    /// Returns the refused merges of edges between groups, in program order.
    fn missed(&self) -> Vec<MissedFusion> {
        let span = |at: u32| self.field.g.span(self.field.op(at));
        let mut refused: Vec<&(u32, u32, MissedReason)> = self
            .refused
            .iter()
            .filter(|(producer, reader, _)| self.leader(*producer) != self.leader(*reader))
            .collect();
        // The last reason counts, because the groups were still growing before.
        refused.reverse();
        refused.sort_by_key(|(producer, reader, _)| (*reader, *producer));
        refused.dedup_by_key(|(producer, reader, _)| (*reader, *producer));
        let missed = refused
            .into_iter()
            .map(|(producer, consumer, reason)| MissedFusion {
                producer: span(*producer),
                consumer: span(*consumer),
                reason: reason.clone(),
            });
        missed.collect()
    }
}
