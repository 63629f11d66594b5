//! Kernels and the tasks that they are called for.

use mind_ir::OpId;
use mind_ir::opdef::OpDef;
use smallvec::SmallVec;

use super::Unit;
use crate::program::layout::Region;
use crate::program::step::{Axis, Call, Step};
use mind_vir::ir::{Builder, LoopKind, Signature, Value};

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

    /// The range of the first axis that has one, all of `extent` if none has.
    pub(super) fn rows(&self, b: &mut Builder, extent: Option<usize>) -> (Value, Value) {
        let range = self.ranges.first().copied();
        range.unwrap_or_else(|| whole(b, extent.unwrap_or(1)))
    }
}

/// All of `extent` indices.
pub(super) fn whole(b: &mut Builder, extent: usize) -> (Value, Value) {
    (b.index(0), b.index(extent as i64))
}

/// Appends statements, given the indices of a stack and a range of each other dimension.
pub(super) type Inside<'f> = dyn FnMut(&mut Builder, &[Value], &[(Value, Value)]) + 'f;

/// Which dimensions of what a kernel writes threads share.
///
/// A dimension is an [`Axis::Each`] of a stack, or an [`Axis::Range`]. Those that are not shared are loops of the
/// kernel.
#[derive(Debug)]
pub(super) struct Shared {
    /// The extents of the stack, and whether each is shared.
    pub(super) stack: Vec<(usize, bool)>,
    /// The extents and grains of the dimensions that a kernel takes ranges of, and whether each is shared.
    pub(super) ranges: Vec<(usize, usize, bool)>,
}

impl Shared {
    /// Of a stack and of dimensions with an axis, an extent and a grain each, those in `parallel` are shared.
    pub(super) fn new(
        stack: &[usize],
        ranges: &[(usize, usize, usize)],
        parallel: &[i64],
    ) -> Shared {
        let is_shared = |axis: usize| parallel.contains(&(axis as i64));
        let stack = stack.iter().enumerate();
        let ranges = ranges.iter();
        Shared {
            stack: stack
                .map(|(axis, &extent)| (extent, is_shared(axis)))
                .collect(),
            ranges: ranges
                .map(|&(axis, extent, grain)| (extent, grain, is_shared(axis)))
                .collect(),
        }
    }

    /// The grid of the shared dimensions.
    pub(super) fn grid(&self) -> SmallVec<[Axis; 4]> {
        let stack = self.stack.iter().filter(|&&(_, is_shared)| is_shared);
        let ranges = self.ranges.iter().filter(|&&(.., is_shared)| is_shared);
        let stack = stack.map(|&(extent, _)| Axis::Each(extent));
        let ranges = ranges.map(|&(extent, grain, _)| Axis::Range { extent, grain });
        stack.chain(ranges).collect()
    }

    /// Appends `body` for each index of the stack that is the task's, given all indices and a range of each other
    /// dimension.
    pub(super) fn each(&self, b: &mut Builder, task: &Task, body: &mut Inside<'_>) {
        let mut given = task.ranges.iter().copied();
        let ranges = self.ranges.iter().map(|&(extent, _, is_shared)| {
            let range = if is_shared { given.next() } else { None };
            range.unwrap_or_else(|| whole(b, extent))
        });
        let ranges: Vec<(Value, Value)> = ranges.collect();
        self.nested(b, &task.indices, &mut Vec::new(), &mut |b, indices| {
            body(b, indices, &ranges);
        });
    }

    /// Appends loops over the dimensions of the stack that `task` has no index of, and `body` inside.
    fn nested(
        &self,
        b: &mut Builder,
        task: &[Value],
        indices: &mut Vec<Value>,
        body: &mut dyn FnMut(&mut Builder, &[Value]),
    ) {
        match (self.stack.get(indices.len()), task) {
            (None, _) => body(b, indices),
            (Some((_, true)), &[index, ref rest @ ..]) => {
                indices.push(index);
                self.nested(b, rest, indices, body);
                indices.pop();
            }
            (Some(&(extent, _)), _) => {
                let range = whole(b, extent);
                b.repeat(LoopKind::Rest, range, 1, &[], |b, round| {
                    indices.push(round.index);
                    self.nested(b, task, indices, body);
                    indices.pop();
                    Vec::new()
                });
            }
        }
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
