//! Plain grouping: elementwise ops and reductions that share positions run as one.
//!
//! Pairs of groups merge, the pair that saves most bytes first. Every group stands at the position of
//! one of its ops, every value is defined by a group before those that read it, and a merge keeps that
//! so: groups stay convex, and no cycle between groups can arise.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::{Dim, TypeView};
use smallvec::SmallVec;

use super::build::{Body, build};
use crate::context::Context;
use crate::cost::{CostClass, CostTable, Work};
use crate::region::Program;
use crate::report::{FusedGroup, Report};

/// Groups the ops of the module's body. Returns whether any group was made.
pub(crate) fn group(
    g: &mut Graph,
    cx: &Context<'_>,
    costs: &CostTable,
    report: &mut Report,
) -> bool {
    let program = Program::of(g);
    let mut grouping = Grouping::new(g, cx, costs, &program);
    grouping.run();
    let mut groups: Vec<Cluster> = grouping.clusters.into_iter().flatten().collect();
    groups.retain(|group| group.members.len() > 1);
    groups.sort_by_key(|group| group.position);
    for group in &groups {
        let kind = if group.reduction.is_some() {
            "reduction"
        } else {
            "elementwise"
        };
        let ops: Vec<_> = group.members.iter().map(|&at| program.ops[at]).collect();
        let before = program.ops[group.position];
        let span = g.span(before);
        build(g, cx, kind, &Body { ops: &ops, before });
        report.fused.push(FusedGroup {
            span,
            kind,
            ops: ops.len(),
        });
    }
    !groups.is_empty()
}

/// Ops that run as one.
#[derive(Clone, Debug)]
struct Cluster {
    /// The positions of its ops in the program, ascending.
    members: Vec<usize>,
    /// Where it stands: the position of one of them.
    position: usize,
    /// The position of its reduction.
    reduction: Option<usize>,
    cost: u64,
}

struct Grouping<'a> {
    g: &'a Graph,
    cx: &'a Context<'a>,
    costs: &'a CostTable,
    program: &'a Program,
    /// The group of each position; none once it merged into another, and for ops that stay alone.
    clusters: Vec<Option<Cluster>>,
    /// Which group each position is in.
    leaders: Vec<usize>,
    /// The positions that read the result at each position, ascending; none where a region reads it.
    readers: Vec<Option<SmallVec<[u32; 2]>>>,
}

impl<'a> Grouping<'a> {
    fn new(
        g: &'a Graph,
        cx: &'a Context<'a>,
        costs: &'a CostTable,
        program: &'a Program,
    ) -> Grouping<'a> {
        let len = program.ops.len();
        let mut grouping = Grouping {
            g,
            cx,
            costs,
            program,
            clusters: vec![None; len],
            leaders: (0..len).collect(),
            readers: vec![Some(SmallVec::new()); len],
        };
        for (at, &op) in program.ops.iter().enumerate() {
            for &operand in g.operands(op) {
                let Some(producer) = program.definition(g, operand) else {
                    continue;
                };
                if let Some(list) = &mut grouping.readers[producer]
                    && list.last() != Some(&(at as u32))
                {
                    list.push(at as u32);
                }
            }
        }
        for (at, &op) in program.ops.iter().enumerate() {
            let inner = |value: ValueId| {
                g.uses(value)
                    .any(|(user, _)| program.position(user).is_none())
            };
            if g.results(op).into_iter().any(inner) {
                grouping.readers[at] = None;
            }
        }
        for (at, live) in grouping.live().into_iter().enumerate() {
            if let Some(class) = grouping.groupable(at).filter(|_| live) {
                let reduction = (class == CostClass::Reduction).then_some(at);
                let mut own = Cluster {
                    members: vec![at],
                    position: at,
                    reduction,
                    cost: 0,
                };
                own.cost = grouping.cost(&own.members);
                grouping.clusters[at] = Some(own);
            }
        }
        grouping
    }

    /// Which ops something reads, in the end.
    fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.program.ops.len()];
        for at in (0..live.len()).rev() {
            let pure = self.g.def(self.program.ops[at]).has(Trait::Pure);
            let read = |list: &SmallVec<[u32; 2]>| list.iter().any(|&user| live[user as usize]);
            live[at] = !pure || self.readers[at].as_ref().is_none_or(read);
        }
        live
    }

    /// The class of the op at `at` if it may be in a group.
    fn groupable(&self, at: usize) -> Option<CostClass> {
        let op = self.program.ops[at];
        self.cx.rules.ops.transparent(self.g.def(op))?;
        self.readers[at].as_ref()?;
        let open = |value: ValueId| self.g.ty(value).shape.contains(&Dim::Dynamic);
        if open(self.g.result(op)) || self.g.operands(op).iter().copied().any(open) {
            return None;
        }
        let class = self.costs.class_of(self.g.def(op));
        matches!(class, CostClass::Elementwise | CostClass::Reduction).then_some(class)
    }

    fn run(&mut self) {
        let mut queue: BinaryHeap<(u64, Reverse<usize>, Reverse<usize>)> = BinaryHeap::new();
        for at in 0..self.program.ops.len() {
            for (producer, reader) in self.edges(at) {
                let saved = self.saved(producer, reader);
                queue.push((saved, Reverse(reader), Reverse(producer)));
            }
        }
        while let Some((saved, Reverse(reader), Reverse(producer))) = queue.pop() {
            let (a, b) = (self.leaders[producer], self.leaders[reader]);
            if a == b {
                continue;
            }
            let now = self.saved(producer, reader);
            if now < saved {
                queue.push((now, Reverse(reader), Reverse(producer)));
                continue;
            }
            if let Some(merged) = self.merged(producer, reader, a, b) {
                for &member in &merged.members {
                    self.leaders[member] = b;
                }
                self.clusters[a] = None;
                self.clusters[b] = Some(merged);
            }
        }
    }

    /// The pairs of groupable ops of which the second, at `at`, reads the first.
    fn edges(&self, at: usize) -> SmallVec<[(usize, usize); 2]> {
        if self.clusters[at].is_none() {
            return SmallVec::new();
        }
        let operands = self.g.operands(self.program.ops[at]).iter();
        let producers = operands.filter_map(|&value| self.program.definition(self.g, value));
        let known = |&producer: &usize| {
            let few = |list: &SmallVec<[u32; 2]>| list.len() <= self.cx.limits.group_ops;
            self.clusters[producer].is_some() && self.readers[producer].as_ref().is_some_and(few)
        };
        let mut edges: SmallVec<[(usize, usize); 2]> = producers
            .filter(known)
            .map(|producer| (producer, at))
            .collect();
        edges.dedup();
        edges
    }

    /// The bytes that merging the groups of `producer` and `reader` saves over this edge.
    fn saved(&self, producer: usize, reader: usize) -> u64 {
        let (a, b) = (self.leaders[producer], self.leaders[reader]);
        let bytes = self
            .costs
            .model
            .bytes(self.g.ty(self.g.result(self.program.ops[producer])));
        let outside = |&user: &u32| ![a, b].contains(&self.leaders[user as usize]);
        match self.readers[producer]
            .as_ref()
            .is_some_and(|list| list.iter().any(outside))
        {
            true => bytes,
            false => bytes.saturating_mul(2),
        }
    }

    /// The group of both, if it may run as one and costs no more.
    fn merged(&self, producer: usize, reader: usize, a: usize, b: usize) -> Option<Cluster> {
        let (first, second) = (self.clusters[a].as_ref()?, self.clusters[b].as_ref()?);
        if first.members.len() + second.members.len() > self.cx.limits.group_ops {
            return None;
        }
        if !self.same_positions(producer, reader, first, second) {
            return None;
        }
        let position = self.place(first, second)?;
        let mut members: Vec<usize> = [first.members.as_slice(), &second.members].concat();
        members.sort_unstable();
        if self.operands(&members).len() > self.cx.limits.group_operands {
            return None;
        }
        let cost = self.cost(&members);
        let apart = first.cost.saturating_add(second.cost);
        let reduction = first.reduction.or(second.reduction);
        (cost < apart).then_some(Cluster {
            members,
            position,
            reduction,
            cost,
        })
    }

    /// Whether the ops of both run over the same positions: elementwise ops of one shape, before a
    /// reduction of that shape or behind one that gives it.
    fn same_positions(
        &self,
        producer: usize,
        reader: usize,
        first: &Cluster,
        second: &Cluster,
    ) -> bool {
        let result = |at: usize| self.g.ty(self.g.result(self.program.ops[at])).shape;
        let (from, to) = (result(producer), result(reader));
        let before = |group: &Cluster| {
            let at = group.reduction?;
            let operand = self.g.operands(self.program.ops[at]).first()?;
            Some(self.g.ty(*operand).shape)
        };
        match (first.reduction, second.reduction) {
            (None, None) => from == to,
            (None, Some(at)) => {
                let shape = before(second);
                shape == Some(from) && (reader == at || to == from) && shape != Some(result(at))
            }
            (Some(at), None) => from == to && result(at) == from && before(first) != Some(from),
            (Some(_), Some(_)) => false,
        }
    }

    /// Where the group of both can stand: at the second's position if nothing reads the first earlier,
    /// else at the first's if the second reads nothing later.
    fn place(&self, first: &Cluster, second: &Cluster) -> Option<usize> {
        let inside = |at: usize| {
            let leader = self.leaders[at];
            leader == self.leaders[first.members[0]] || leader == self.leaders[second.members[0]]
        };
        let stands = |at: usize| {
            self.clusters[self.leaders[at]]
                .as_ref()
                .map_or(at, |group| group.position)
        };
        let readers = first
            .members
            .iter()
            .filter_map(|&member| self.readers[member].as_ref());
        let mut readers = readers
            .flatten()
            .map(|&user| user as usize)
            .filter(|&at| !inside(at));
        if readers.all(|user| stands(user) > second.position) {
            return Some(second.position);
        }
        let mut reads = second
            .members
            .iter()
            .flat_map(|&member| self.g.operands(self.program.ops[member]))
            .filter_map(|&value| self.program.definition(self.g, value))
            .filter(|&at| !inside(at));
        reads
            .all(|at| stands(at) < first.position)
            .then_some(first.position)
    }

    /// The values that the ops at `members`, ascending, read from elsewhere.
    fn operands(&self, members: &[usize]) -> SmallVec<[ValueId; 8]> {
        let mut operands: SmallVec<[ValueId; 8]> = SmallVec::new();
        for &member in members {
            for &value in self.g.operands(self.program.ops[member]) {
                let inner = self.program.definition(self.g, value);
                let inner = inner.is_some_and(|at| members.binary_search(&at).is_ok());
                if !inner && !operands.contains(&value) {
                    operands.push(value);
                }
            }
        }
        operands
    }

    /// The cost of the ops at `members`, ascending, as one kernel.
    fn cost(&self, members: &[usize]) -> u64 {
        let model = &self.costs.model;
        let mut bytes = 0u64;
        for value in self.operands(members) {
            bytes = bytes.saturating_add(model.bytes(self.g.ty(value)));
        }
        let mut work = Work::default();
        for &member in members {
            let op = self.program.ops[member];
            let result = self.g.ty(self.g.result(op));
            let inner = |&user: &u32| members.binary_search(&(user as usize)).is_ok();
            if !self.readers[member]
                .as_ref()
                .is_some_and(|list| list.iter().all(inner))
            {
                bytes = bytes.saturating_add(model.bytes(result));
            }
            let def = self.g.def(op);
            let types: SmallVec<[TypeView<'_>; 4]> = self
                .g
                .operands(op)
                .iter()
                .map(|&value| self.g.ty(value))
                .collect();
            work = work.plus(model.work(self.costs.class_of(def), def.scalar, &types, result));
        }
        model.kernel(bytes, work)
    }
}
