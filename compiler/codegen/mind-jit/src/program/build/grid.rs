//! Grids of tasks that kernels are called for.

use smallvec::SmallVec;

use mind_vir::ir::{Builder, LoopKind, Signature, Value};
use mind_vir::program::Axis;

/// Parameters of a kernel.
#[derive(Debug)]
pub(super) struct Params {
    /// A pointer per argument.
    pub(super) pointers: Vec<Value>,
    /// The task.
    pub(super) task: Task,
}

/// The part of the grid that a task computes.
#[derive(Debug)]
pub(super) struct Task {
    /// Index of each [`Axis::Each`].
    pub(super) indices: Vec<Value>,
    /// Range of each [`Axis::Range`].
    pub(super) ranges: Vec<(Value, Value)>,
}

impl Task {
    /// Declares the parameters of a number of indices, followed by a number of ranges.
    pub(super) fn new(signature: &mut Signature, (indices, ranges): (usize, usize)) -> Task {
        Task {
            indices: (0..indices).map(|_| signature.index()).collect(),
            ranges: (0..ranges)
                .map(|_| (signature.index(), signature.index()))
                .collect(),
        }
    }

    /// Returns the first range; if the task has none, the whole range of `extent`.
    pub(super) fn rows(&self, b: &mut Builder, extent: Option<usize>) -> (Value, Value) {
        let range = self.ranges.first().copied();
        range.unwrap_or_else(|| whole(b, extent.unwrap_or(1)))
    }
}

/// Returns the whole range of `extent` indices.
pub(super) fn whole(b: &mut Builder, extent: usize) -> (Value, Value) {
    (b.index(0), b.index(extent as i64))
}

/// Appends statements, given the indices of a stack and a range of each other dimension.
pub(super) type Inside<'f> = dyn FnMut(&mut Builder, &[Value], &[(Value, Value)]) + 'f;

/// The parallel dimensions of a kernel's result.
///
/// A parallel dimension is an [`Axis::Each`] if it is part of the stack, else an [`Axis::Range`]. The other dimensions
/// are loops of the kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Shared {
    /// Extents of the stack, and whether each is parallel.
    pub(super) stack: Vec<(usize, bool)>,
    /// Extents and grains of the dimensions that a kernel takes ranges of, and whether each is parallel.
    pub(super) ranges: Vec<(usize, usize, bool)>,
}

impl Shared {
    /// Returns the dimensions of a stack and of `ranges`, which have an axis, an extent and a grain each. Those in
    /// `parallel` are parallel.
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

    /// Returns the grid of the parallel dimensions.
    pub(super) fn grid(&self) -> SmallVec<[Axis; 4]> {
        let stack = self.stack.iter().filter(|&&(_, is_shared)| is_shared);
        let ranges = self.ranges.iter().filter(|&&(.., is_shared)| is_shared);
        let stack = stack.map(|&(extent, _)| Axis::Each(extent));
        let ranges = ranges.map(|&(extent, grain, _)| Axis::Range { extent, grain });
        stack.chain(ranges).collect()
    }

    /// Appends `body` for each index of the stack that belongs to the task, given all indices and a range of each other
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

    /// Appends loops over the dimensions of the stack for which `task` has no index, with `body` inside.
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

/// The work of a kernel over its whole grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Elements, times the operations per element plus one for its store.
    operations: u64,
    /// Multiply-adds of products.
    pub(super) products: u64,
    /// Whether products run on AMX tiles, with elements of four bytes.
    in_matrices: bool,
}

impl Work {
    /// Returns the work of `operations` on each of `elements`.
    pub(super) fn new(elements: usize, operations: usize) -> Work {
        Work {
            operations: (elements as u64).saturating_mul(operations as u64 + 1),
            products: 0,
            in_matrices: false,
        }
    }

    /// Adds multiply-adds of products.
    pub(super) fn and_products(self, products: usize) -> Work {
        let products = products as u64;
        Work { products, ..self }
    }

    /// Moves the products to AMX tiles, with elements of four bytes.
    pub(super) fn in_matrices(self) -> Work {
        Work {
            in_matrices: true,
            ..self
        }
    }

    /// Returns the estimated time in nanoseconds of one thread with vectors of `lanes` 32-bit lanes: two vectors per
    /// nanosecond, or 256 elements on AMX tiles.
    pub(super) fn cost(&self, lanes: u32) -> u64 {
        let rate = 2 * u64::from(lanes);
        let of_products = if self.in_matrices { 256 } else { rate };
        self.operations / rate + self.products / of_products
    }
}
