//! Nests.

use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_loops::ops::nest::{Nest, vector_axis};

use super::{Emitted, Emitter, ints};
use crate::kernel::{Kernel, Kind};

impl Emitter<'_, '_> {
    /// A nest, its dimensions joined as far as the operands allow.
    pub(super) fn nest(&mut self, kernel: &Kernel) -> Emitted<Vec<ValueId>> {
        let kernel = &joined(widened(joined(kernel.clone())));
        let operands: Vec<_> = kernel
            .operands
            .iter()
            .map(|operand| self.value(&operand.place))
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

    /// How much of the dimension `shared` a task has: as much as makes its positions about as many as the option asks
    /// for.
    fn tile(&self, dims: &[usize], shared: usize) -> usize {
        let others = dims.iter().enumerate().filter(|&(axis, _)| axis != shared);
        let inner: usize = others.map(|(_, &extent)| extent).product();
        (self.options.tile / inner.max(1)).clamp(1, dims[shared].max(1))
    }
}

/// Columns that a thread reduces together: eight vectors of the widest kind.
const COLUMNS: usize = 128;

/// The dimension that threads share: the first one outside of vectors and reductions. Without one, that of vectors,
/// unless it is reduced; the columns of a matrix only in groups that leave none over.
fn shared(dims: &[usize], along: Option<usize>, vector: Option<usize>) -> Option<usize> {
    let outside = (0..dims.len()).find(|&axis| Some(axis) != along && Some(axis) != vector);
    let is_cut = |&axis: &usize| match along {
        None => true,
        Some(along) => along != axis && dims[axis] > COLUMNS && dims[axis].is_multiple_of(COLUMNS),
    };
    outside.or_else(|| vector.filter(is_cut))
}

/// The kernel with neighbouring dimensions made one where every operand allows.
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
            operand.place = operand.place.joined(first);
        }
        if let Kind::Nest { along: Some(axis) } = &mut kernel.kind
            && *axis > at
        {
            *axis -= 1;
        }
    }
    kernel
}

/// The kernel with the dimension before the reduced one behind it, where it and the last one are then one for
/// every operand, so that columns lie side by side over both.
fn widened(kernel: Kernel) -> Kernel {
    let rank = kernel.dims.len();
    let Some(axis) = kernel.along().filter(|&axis| axis > 0 && axis + 2 == rank) else {
        return kernel;
    };
    let mut wide = kernel.clone();
    wide.dims.swap(axis - 1, axis);
    for operand in wide.operands.iter_mut().filter(|operand| !operand.is_row) {
        operand.place.extents.swap(axis - 1, axis);
        operand.place.strides.swap(axis - 1, axis);
    }
    wide.kind = Kind::Nest {
        along: Some(axis - 1),
    };
    if joins(&wide, axis) { wide } else { kernel }
}

/// Whether the dimensions `at` and `at + 1` are one for every operand, and neither is reduced.
fn joins(kernel: &Kernel, at: usize) -> bool {
    let along = kernel.along();
    let reduced = along.is_some_and(|axis| axis == at || axis == at + 1);
    !reduced
        && kernel.operands.iter().all(|operand| {
            let first = own_axis(at, along.filter(|_| operand.is_row));
            operand.place.continues(first)
        })
}

/// The axis of an operand that lacks the dimension `lacking`.
fn own_axis(axis: usize, lacking: Option<usize>) -> usize {
    match lacking {
        Some(reduced) if reduced < axis => axis - 1,
        _ => axis,
    }
}
