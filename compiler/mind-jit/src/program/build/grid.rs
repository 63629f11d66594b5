//! The tasks that kernels are called for.

use smallvec::SmallVec;

use mind_vir::ir::{Builder, LoopKind, Signature, Value};
use mind_vir::program::Axis;

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
    /// Declares the parameters of a number of indices, and of a number of ranges after them.
    pub(super) fn new(signature: &mut Signature, (indices, ranges): (usize, usize)) -> Task {
        Task {
            indices: (0..indices).map(|_| signature.index()).collect(),
            ranges: (0..ranges)
                .map(|_| (signature.index(), signature.index()))
                .collect(),
        }
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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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

/// What a kernel does over its whole grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Elements, times the operations on each and the store of it.
    operations: u64,
    /// Multiply-adds of products.
    pub(super) products: u64,
    /// Whether products are in matrix registers, of elements that hold four bytes.
    in_matrices: bool,
}

impl Work {
    /// `operations` on each of `elements`.
    pub(super) fn new(elements: usize, operations: usize) -> Work {
        Work {
            operations: (elements as u64).saturating_mul(operations as u64 + 1),
            products: 0,
            in_matrices: false,
        }
    }

    /// As many multiply-adds of products besides.
    pub(super) fn and_products(self, products: usize) -> Work {
        let products = products as u64;
        Work { products, ..self }
    }

    /// The same with products in matrix registers, of elements that hold four bytes.
    pub(super) fn in_matrices(self) -> Work {
        Work {
            in_matrices: true,
            ..self
        }
    }

    /// The time, in about nanoseconds of one thread, with vectors of `lanes` lanes of 32 bits: two vectors in a nanosecond, or
    /// 256 elements in matrix registers.
    pub(super) fn cost(&self, lanes: u32) -> u64 {
        let rate = 2 * u64::from(lanes);
        let of_products = if self.in_matrices { 256 } else { rate };
        self.operations / rate + self.products / of_products
    }
}
