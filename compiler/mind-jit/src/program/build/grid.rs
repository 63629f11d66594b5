//! Kernels and the tasks that they are called for.

use mind_ir::OpId;
use mind_ir::opdef::OpDef;
use smallvec::SmallVec;

use super::Unit;
use crate::program::layout::Region;
use crate::program::step::{Axis, Call, Step};
use crate::vir::{Builder, Signature, Value};

/// A kernel before it is built, and how it is called.
#[derive(Debug)]
pub(super) struct Spec {
    /// The op that it is made for.
    pub(super) op: OpId,
    /// What it is called in listings.
    pub(super) name: &'static str,
    /// Lanes of its vectors.
    pub(super) lanes: u32,
    /// What its code depends on besides lanes and sizes, as text.
    pub(super) key: String,
    /// What its pointers point to: all that it may read and write there.
    pub(super) args: SmallVec<[Region; 6]>,
    /// The tasks that it is called for.
    pub(super) grid: SmallVec<[Axis; 4]>,
    /// The work, in about nanoseconds of one thread.
    pub(super) cost: u64,
}

/// The parameters of a kernel.
#[derive(Debug)]
pub(super) struct Params {
    /// A pointer for each argument.
    pub(super) pointers: Vec<Value>,
    /// The task.
    pub(super) task: Task,
}

/// What a task works on, by the axes of the grid.
#[derive(Debug)]
pub(super) struct Task {
    /// The index of each [`Axis::Each`].
    pub(super) indices: Vec<Value>,
    /// The range of each [`Axis::Range`].
    pub(super) ranges: Vec<(Value, Value)>,
}

impl Task {
    fn of(grid: &[Axis], signature: &mut Signature) -> Task {
        let (mut indices, mut ranges) = (Vec::new(), Vec::new());
        for axis in grid {
            match axis {
                Axis::Each(_) => indices.push(signature.index()),
                Axis::Range { .. } => ranges.push((signature.index(), signature.index())),
            }
        }
        Task { indices, ranges }
    }

    /// The range of the first axis that has one, all of one row if none has.
    pub(super) fn rows(&self, b: &mut Builder) -> (Value, Value) {
        let range = self.ranges.first().copied();
        range.unwrap_or_else(|| (b.index(0), b.index(1)))
    }
}

impl Unit<'_> {
    /// Adds a call of a kernel, which `make` builds if none of this kind is there: it appends statements, given the
    /// parameters.
    pub(super) fn call(&mut self, spec: Spec, make: impl FnOnce(&mut Builder, &Params)) {
        let def: &'static OpDef = self.g.def(spec.op);
        let sizes: SmallVec<[usize; 6]> = spec.args.iter().map(|region| region.bytes).collect();
        let key = format!("{} {} {sizes:?} {}", spec.name, spec.lanes, spec.key);
        let kernel = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let mut signature = Signature::new(spec.name, spec.lanes);
                let pointers = sizes.iter().map(|&bytes| signature.buffer(bytes));
                let params = Params {
                    pointers: pointers.collect(),
                    task: Task::of(&spec.grid, &mut signature),
                };
                let mut b = signature.body();
                make(&mut b, &params);
                self.functions.push((b.finish(), def.name));
                self.known.insert(key, self.functions.len() - 1);
                self.functions.len() - 1
            }
        };
        let call = Call {
            kernel,
            args: spec.args,
            has_scratch: self.functions[kernel].0.scratch().is_some(),
            grid: spec.grid,
            cost: spec.cost,
            op: def.name,
        };
        self.push(spec.op, Step::Call(call));
    }
}

/// About nanoseconds of one thread for so many operations on so many elements.
pub(super) fn cost(elements: usize, operations: usize) -> u64 {
    (elements as u64).saturating_mul(operations as u64 + 1) / 16
}
