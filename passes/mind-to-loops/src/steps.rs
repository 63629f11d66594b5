//! Tensor ops as steps of a kernel, which the fusion rules inspect.

use mind_core::parts::Parts;
use mind_ir::kernel::{self, KernelForm, Read, Source, Step, StepKind, form};
use mind_ir::types::{Dim, Shape};
use mind_ir::{Graph, OpId, ValueId};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::map::Map;
use mind_tensor::ops::reduce::Reduce;
use mind_tensor::ops::reshape::Reshape;
use mind_tensor::ops::transpose::Transpose;
use mind_tensor::ops::window::Window;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::lowering::ValueViews;

/// Consecutive ops as steps of one kernel.
pub(crate) struct Steps<'g> {
    g: &'g Graph,
    /// The ops, including views of the results of others.
    pub(crate) ops: &'g [OpId],
    rows: Vec<StepData<'g>>,
    /// For each value the step that computes it and the shape in which it is read.
    known: FxHashMap<ValueId, (usize, Shape)>,
}

/// The data of a step, from which [`Steps::steps`] builds its borrowed representation.
struct StepData<'g> {
    op: OpId,
    kind: StepKind,
    width: usize,
    axes: u64,
    result: &'g [Dim],
    reads: SmallVec<[(Source, Shape); 2]>,
}

impl<'g> Steps<'g> {
    /// Reads `ops` as steps; values with a view are operands from outside.
    pub(crate) fn read(g: &'g Graph, ops: &'g [OpId], views: &ValueViews) -> Steps<'g> {
        let mut steps = Steps {
            g,
            ops,
            rows: Vec::new(),
            known: FxHashMap::default(),
        };
        ops.iter().for_each(|&op| steps.add(op, views));
        steps
    }

    fn add(&mut self, op: OpId, views: &ValueViews) {
        let g = self.g;
        if g.results(op)
            .into_iter()
            .all(|value| views.contains_key(&value))
        {
            return;
        }
        if let Some(broadcast) = g.view::<Broadcast>(op)
            && let Some((step, own)) = self.known.get(&broadcast.inputs(g)[0])
            && broadcast.dims(g).is_sorted()
        {
            let mut shape: Shape =
                std::iter::repeat_n(Dim::Fixed(1), broadcast.shape(g).len()).collect();
            for (&at, &dim) in broadcast.dims(g).iter().zip(own) {
                shape[at as usize] = dim;
            }
            self.known.insert(g.result(op), (*step, shape));
            return;
        }
        let reads = g
            .operands(op)
            .iter()
            .map(|value| match self.known.get(value) {
                Some((step, shape)) => (Source::Step(*step), shape.clone()),
                None => (Source::Operand, views[value].varying().collect()),
            });
        let row = StepData {
            op,
            kind: kind(g, op),
            width: width(g, op),
            axes: axes(g, op),
            result: g.ty(g.results(op).get(0)).shape,
            reads: reads.collect(),
        };
        for value in g.results(op) {
            let shape = g.ty(value).shape.iter().copied().collect();
            self.known.insert(value, (self.rows.len(), shape));
        }
        self.rows.push(row);
    }

    /// Returns the ops of the steps.
    pub(crate) fn computing(&self) -> impl Iterator<Item = OpId> + '_ {
        self.rows.iter().map(|row| row.op)
    }

    /// Returns the step that computes `value`, if any.
    pub(crate) fn of(&self, value: ValueId) -> Option<usize> {
        self.known.get(&value).map(|(step, _)| *step)
    }

    /// Returns the steps in the representation of [`mind_ir::kernel`].
    pub(crate) fn steps(&self) -> Vec<Step<'_>> {
        let step = |row: &'_ StepData<'g>| {
            let mut results = self.g.results(row.op).into_iter();
            results.any(|value| self.leaves(value))
        };
        let rows = self.rows.iter().map(|row| Step {
            kind: row.kind,
            width: row.width,
            axes: row.axes,
            result: row.result,
            reads: (row.reads.iter())
                .map(|(from, shape)| Read { from: *from, shape })
                .collect(),
            leaves: step(row),
        });
        rows.collect()
    }

    /// Returns the form of the ops as one kernel, if they fuse.
    pub(crate) fn form(&self) -> Option<KernelForm> {
        form(&self.steps()).ok()
    }

    /// Returns the form of a single op; `None` if it has no kernel that can be fused.
    pub(crate) fn single_form(&self) -> Option<KernelForm> {
        match self.rows.first()?.kind {
            StepKind::Elementwise => Some(KernelForm::Elementwise),
            StepKind::Reduction => Some(KernelForm::Rows),
            StepKind::Product | StepKind::Contraction => Some(KernelForm::Contraction),
            StepKind::Normalisation | StepKind::View | StepKind::Permute | StepKind::Other => None,
        }
    }

    /// Returns whether `op` is a product or a convolution.
    pub(crate) fn contracts(&self, op: OpId) -> bool {
        let kind = self
            .rows
            .iter()
            .find(|row| row.op == op)
            .map(|row| row.kind);
        matches!(kind, Some(StepKind::Product | StepKind::Contraction))
    }

    /// Returns whether an op outside of the steps reads `value` or a view of it.
    pub(crate) fn leaves(&self, value: ValueId) -> bool {
        let g = self.g;
        g.uses(value).any(|(user, _)| {
            let is_step = || self.rows.iter().any(|row| row.op == user);
            let is_view = || self.ops.contains(&user) && !is_step();
            if is_view() {
                self.leaves(g.result(user))
            } else {
                !is_step()
            }
        })
    }
}

fn kind(g: &Graph, op: OpId) -> StepKind {
    if g.is::<Map>(op) {
        StepKind::Elementwise
    } else if g.is::<Reduce>(op) {
        StepKind::Reduction
    } else if let Some(contract) = g.view::<Contract>(op) {
        if is_product(g, contract) && contract.parts(g) == Parts::Whole {
            StepKind::Product
        } else {
            StepKind::Contraction
        }
    } else if g.is::<Window>(op) {
        StepKind::Contraction
    } else if g.is::<Reshape>(op) {
        StepKind::View
    } else if g.is::<Transpose>(op) {
        StepKind::Permute
    } else {
        StepKind::Other
    }
}

/// Returns the size in bytes of the widest dtype with which `op`, or an op in its body, computes.
fn width(g: &Graph, op: OpId) -> usize {
    let own = |op: OpId| {
        let values = g.operands(op).iter().copied().chain(g.results(op));
        kernel::width(values.map(|value| g.ty(value).dtype))
    };
    match g.view::<Map>(op) {
        Some(map) => g.ops(map.body(g)).map(own).max().unwrap_or(0),
        None => own(op),
    }
}

/// Returns whether both sides are batches of matrices, with the columns of the left and the rows of the right
/// contracted.
fn is_product(g: &Graph, contract: Contract) -> bool {
    let batch = contract.lhs_batch(g).len();
    let leading = |axes: &[i64]| axes.iter().copied().eq(0..batch as i64);
    let rank = |value: ValueId| g.ty(value).rank() == batch + 2;
    leading(contract.lhs_batch(g))
        && leading(contract.rhs_batch(g))
        && rank(contract.lhs(g))
        && rank(contract.rhs(g))
        && contract.lhs_contract(g) == [batch as i64 + 1]
        && contract.rhs_contract(g) == [batch as i64]
}

/// Returns the axes of a reduction as a bit set.
fn axes(g: &Graph, op: OpId) -> u64 {
    let axes = g
        .view::<Reduce>(op)
        .map_or(&[][..], |reduce| reduce.axes(g));
    axes.iter().fold(0, |all, &axis| all | 1 << axis)
}
