//! Emits loop nests.

use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_loops::ops::nest::{Nest, vector_axis};

use super::{Emitted, Emitter, ints};
use crate::kernel::{Kernel, KernelKind};

impl Emitter<'_, '_> {
    /// Emits a nest, with adjacent dimensions merged where the strides of all operands allow it.
    pub(super) fn nest(&mut self, kernel: &Kernel) -> Emitted<Vec<ValueId>> {
        let kernel = &joined(widened(joined(kernel.clone())));
        let operands: Vec<_> = kernel
            .operands
            .iter()
            .map(|operand| self.value(&operand.view))
            .collect();
        let axis = |axis: Option<usize>| axis.map_or(-1, |axis| axis as i64);
        let (rank, along) = (kernel.dims.len(), kernel.along());
        let vector = vector_axis(self.b.graph, &operands, rank, along);
        let shared = shared(&kernel.dims, along, vector);
        let mut tile = ints(&kernel.dims);
        if let Some(shared) = shared {
            let is_column = Some(shared) == vector && along.is_some();
            tile[shared] = if is_column {
                COLUMNS as i64
            } else {
                self.tile(&kernel.dims, shared) as i64
            };
        }
        let dims = ints(&kernel.dims);
        let parallel: Vec<i64> = shared.iter().map(|&axis| axis as i64).collect();
        let is_columns = along.is_some() && vector != along;
        let unroll = match self.options.unroll {
            unroll if rank > 0 && (is_columns || kernel.writes_after_reducing()) => unroll as i64,
            _ => 0,
        };
        let attrs = Nest::attrs(
            &dims,
            axis(along),
            &parallel,
            &tile,
            axis(vector),
            unroll,
            &[],
        );
        self.kernel_with_body(Nest::DEF, &operands, &attrs, kernel, |_, arguments| {
            Ok(arguments.to_vec())
        })
    }

    /// Returns the extent of the dimension `shared` in a task, such that the task has about as many positions as the
    /// option `tile`.
    fn tile(&self, dims: &[usize], shared: usize) -> usize {
        let others = dims.iter().enumerate().filter(|&(axis, _)| axis != shared);
        let inner: usize = others.map(|(_, &extent)| extent).product();
        (self.options.tile / inner.max(1)).clamp(1, dims[shared].max(1))
    }
}

/// Columns that a thread reduces together: eight vectors of the largest width.
const COLUMNS: usize = 128;

/// Returns the dimension that threads share: the first one that is neither vectorised nor reduced, else the vectorised
/// one unless it is reduced. Columns of a reduction over rows are shared only if they divide into groups of
/// [`COLUMNS`].
fn shared(dims: &[usize], along: Option<usize>, vector: Option<usize>) -> Option<usize> {
    let outside = (0..dims.len()).find(|&axis| Some(axis) != along && Some(axis) != vector);
    let is_cut = |&axis: &usize| match along {
        None => true,
        Some(along) => along != axis && dims[axis] > COLUMNS && dims[axis].is_multiple_of(COLUMNS),
    };
    outside.or_else(|| vector.filter(is_cut))
}

/// Merges adjacent dimensions where the strides of all operands allow it. For example an elementwise kernel on
/// contiguous operands becomes a single loop.
fn joined(mut kernel: Kernel) -> Kernel {
    let mut at = kernel.dims.len();
    while at > 1 {
        at -= 1;
        if !joins(&kernel, at - 1) {
            continue;
        }
        kernel.dims[at - 1] *= kernel.dims[at];
        kernel.dims.remove(at);
        let along = kernel.along();
        for operand in &mut kernel.operands {
            let first = own_axis(at - 1, along.filter(|_| operand.is_row));
            operand.view = operand.view.joined(first);
        }
        if let KernelKind::Nest { along: Some(axis) } = &mut kernel.kind
            && *axis > at
        {
            *axis -= 1;
        }
    }
    kernel
}

/// Moves the dimension before the reduced one after it, if it can then be merged with the last one, so that the columns
/// of both are contiguous.
fn widened(kernel: Kernel) -> Kernel {
    let rank = kernel.dims.len();
    let Some(axis) = kernel.along().filter(|&axis| axis > 0 && axis + 2 == rank) else {
        return kernel;
    };
    let mut wide = kernel.clone();
    wide.dims.swap(axis - 1, axis);
    for operand in wide.operands.iter_mut().filter(|operand| !operand.is_row) {
        operand.view.extents.swap(axis - 1, axis);
        operand.view.strides.swap(axis - 1, axis);
    }
    wide.kind = KernelKind::Nest {
        along: Some(axis - 1),
    };
    if joins(&wide, axis) { wide } else { kernel }
}

/// Returns whether the dimensions `at` and `at + 1` can be merged: neither is reduced, and all operands are contiguous
/// across them.
fn joins(kernel: &Kernel, at: usize) -> bool {
    let along = kernel.along();
    let reduced = along.is_some_and(|axis| axis == at || axis == at + 1);
    !reduced
        && kernel.operands.iter().all(|operand| {
            let first = own_axis(at, along.filter(|_| operand.is_row));
            operand.view.continues(first)
        })
}

/// Converts a dimension of the nest to an axis of an operand that lacks the dimension `lacking`.
fn own_axis(axis: usize, lacking: Option<usize>) -> usize {
    match lacking {
        Some(reduced) if reduced < axis => axis - 1,
        _ => axis,
    }
}
