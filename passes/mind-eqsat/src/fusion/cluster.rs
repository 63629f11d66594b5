//! Clusters: groups of ops of the module, before they become fused ops.

use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::kernel::{self, KernelForm};
use mind_ir::opdef::Trait;
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::build::is_copied_along;
use super::flat::Flattener;
use crate::context::Context;
use crate::cost::{CostClass, CostTable, Price, Work, op_work};
use crate::region::Program;

/// Ops that run as one kernel.
#[derive(Clone, Debug)]
pub(crate) struct Cluster<'g> {
    /// The positions of its ops in the program, in ascending order.
    pub(crate) members: Vec<u32>,
    /// The position of the fused op: that of one of the members.
    pub(crate) position: u32,
    /// The number of ops, with the bodies of fused members counted op by op.
    pub(crate) ops: usize,
    /// The kernel form; `None` for a single op that has no form by itself.
    pub(crate) form: Option<KernelForm>,
    /// Whether it has the same value in every run, because it reads only weights and constants.
    pub(crate) is_settled: bool,
    /// The name from a fusion rule or a normalisation.
    pub(crate) name: Option<&'g str>,
    /// The size in bytes of the widest number that any op computes with.
    pub(crate) width: usize,
    /// The shape of the last op's result. All elementwise ops have this shape, except in [`KernelForm::Rows`].
    pub(crate) space: &'g [Dim],
    pub(crate) work: Work,
    pub(crate) price: Price,
}

/// The kinds of groups that have no name.
const PLAIN: [&str; 4] = ["elementwise", "reduction", "contraction", "attention"];

impl Cluster<'_> {
    /// Returns the kind of the group: its name, or else that of its form.
    pub(crate) fn kind(&self) -> &str {
        let plain = match self.form {
            Some(KernelForm::Rows) => "reduction",
            Some(KernelForm::Contraction) => "contraction",
            Some(KernelForm::Attention) => "attention",
            Some(KernelForm::Elementwise) | None => "elementwise",
        };
        self.name.unwrap_or(plain)
    }
}

/// The module whose ops are clustered, with its tables.
pub(crate) struct Field<'a> {
    pub(crate) g: &'a Graph,
    pub(crate) cx: &'a Context<'a>,
    pub(crate) costs: &'a CostTable<'a>,
    pub(crate) program: &'a Program,
    /// The values that are the same in every run, because they depend only on weights and constants.
    pub(crate) settled: &'a FxHashSet<ValueId>,
}

impl<'a> Field<'a> {
    /// Returns the op at position `at`.
    pub(crate) fn op(&self, at: u32) -> OpId {
        self.program.ops[at as usize]
    }

    /// Returns whether `op` is a fused op.
    pub(crate) fn is_fused(&self, op: OpId) -> bool {
        std::ptr::eq(self.g.def(op), self.cx.fused)
    }

    /// Returns the cluster of the op at `at` alone; `None` if it cannot be in a group.
    pub(crate) fn single(&self, at: u32, flattener: &mut Flattener<'a>) -> Option<Cluster<'a>> {
        let (g, op) = (self.g, self.op(at));
        let class = self.costs.class_of(g.def(op));
        let fused = self.is_fused(op);
        let groupable = matches!(
            class,
            CostClass::Elementwise
                | CostClass::Reduction
                | CostClass::Normalisation(_)
                | CostClass::Contraction(_)
                | CostClass::Scaled(_)
                | CostClass::View
        );
        if !fused && (!groupable || self.cx.rules.ops().transparent(g.def(op)).is_none()) {
            return None;
        }
        let steps = flattener.steps(std::iter::once(op))?;
        let form = kernel::form(&steps).ok();
        if form.is_none() && class != CostClass::View {
            return None;
        }
        let mut cluster = Cluster {
            members: vec![at],
            position: at,
            ops: steps.len(),
            form,
            is_settled: g
                .results(op)
                .into_iter()
                .all(|own| self.settled.contains(&own)),
            name: self.name(op, class),
            width: steps.iter().map(|step| step.width).max().unwrap_or(0),
            space: steps.last().map_or(&[][..], |step| step.result),
            work: op_work(g, self.costs, op),
            price: Price::default(),
        };
        cluster.price = match class {
            CostClass::View => Price {
                cost: self.costs.model.op,
                bytes: 0,
            },
            _ => self.price(&cluster.members, cluster.work),
        };
        Some(cluster)
    }

    fn name(&self, op: OpId, class: CostClass) -> Option<&'a str> {
        if let CostClass::Normalisation(_) = class {
            return Some(self.g.def(op).short_name());
        }
        let kind = self.g.attrs(op).first().filter(|_| self.is_fused(op));
        match kind {
            Some(Attr::Str(kind)) => Some(self.g.name(*kind)).filter(|kind| !PLAIN.contains(kind)),
            _ => None,
        }
    }

    /// Returns the price of running the ops at `members`, which are ascending and do `work`, as one kernel.
    pub(crate) fn price(&self, members: &[u32], work: Work) -> Price {
        let g = self.g;
        let mut bytes = 0u64;
        for value in self.operands(members) {
            bytes = bytes.saturating_add(self.costs.model.bytes(g.ty(value)));
        }
        let inside = |user: OpId| {
            let position = self.program.position(user);
            position.is_some_and(|at| members.binary_search(&(at as u32)).is_ok())
        };
        for &member in members {
            for result in g.results(self.op(member)) {
                if !g.uses(result).all(|(user, _)| inside(user)) {
                    bytes = bytes.saturating_add(self.costs.model.bytes(g.ty(result)));
                }
            }
        }
        self.costs.model.kernel(bytes, work)
    }

    /// Returns the values that the ops at `members`, which are ascending, read from elsewhere, except for constants
    /// that are copied into the group.
    pub(crate) fn operands(&self, members: &[u32]) -> SmallVec<[ValueId; 16]> {
        let mut operands: SmallVec<[ValueId; 16]> = SmallVec::new();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        for &member in members {
            for &value in self.g.operands(self.op(member)) {
                let inner = self.program.definition(self.g, value);
                let inner = inner.is_some_and(|at| members.binary_search(&(at as u32)).is_ok());
                if !inner && !is_copied_along(self.g, value) && seen.insert(value) {
                    operands.push(value);
                }
            }
        }
        operands
    }

    /// Returns the positions of the ops that read `value`, one per use and in no particular order.
    pub(crate) fn readers_of(&self, value: ValueId) -> impl Iterator<Item = u32> {
        let positions = self
            .g
            .uses(value)
            .map(|(user, _)| self.program.position(user));
        positions.flatten().map(|at| at as u32)
    }

    /// Returns for each position the positions that read its results, in ascending order; `None` if a region reads one.
    pub(crate) fn readers(&self) -> Vec<Option<SmallVec<[u32; 2]>>> {
        let mut readers = vec![Some(SmallVec::<[u32; 2]>::new()); self.program.ops.len()];
        for (at, &op) in self.program.ops.iter().enumerate() {
            for &operand in self.g.operands(op) {
                let Some(producer) = self.program.definition(self.g, operand) else {
                    continue;
                };
                if let Some(list) = &mut readers[producer]
                    && list.last() != Some(&(at as u32))
                {
                    list.push(at as u32);
                }
            }
        }
        for (at, &op) in self.program.ops.iter().enumerate() {
            let inner = |value: ValueId| {
                let mut uses = self.g.uses(value);
                uses.any(|(user, _)| self.program.position(user).is_none())
            };
            if self.g.results(op).into_iter().any(inner) {
                readers[at] = None;
            }
        }
        readers
    }

    /// Returns for each op whether it is live: it is not pure, a region reads it, or a live op reads it.
    pub(crate) fn live(&self, readers: &[Option<SmallVec<[u32; 2]>>]) -> Vec<bool> {
        let mut live = vec![false; self.program.ops.len()];
        for at in (0..live.len()).rev() {
            let pure = self.g.def(self.program.ops[at]).has(Trait::Pure);
            let read = |list: &SmallVec<[u32; 2]>| list.iter().any(|&user| live[user as usize]);
            live[at] = !pure || readers[at].as_ref().is_none_or(read);
        }
        live
    }
}
