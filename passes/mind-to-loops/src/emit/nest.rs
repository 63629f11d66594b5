//! Nests.

use mind_ir::OpId;
use mind_ir::opdef::Op;
use mind_loops::ops::nest::Nest;

use super::{Emitted, Emitter, body, ints};
use crate::kernel::{Kernel, Kind};

impl Emitter<'_, '_> {
    /// A nest, its dimensions joined as far as the operands allow.
    pub(super) fn nest(&mut self, kernel: &Kernel) -> Emitted<OpId> {
        let kernel = &joined(widened(joined(kernel.clone())));
        let operands: Vec<_> = kernel
            .operands
            .iter()
            .map(|operand| self.value(&operand.place))
            .collect();
        let rank = kernel.dims.len() as i64;
        let along = kernel.along().map_or(-1, |axis| axis as i64);
        let parallel: Vec<i64> = (0..rank).filter(|&axis| axis != along).collect();
        let tile = self.tile(&kernel.dims);
        let dims = ints(&kernel.dims);
        let unroll = self.options.unroll as i64;
        let attrs = Nest::attrs(&dims, along, &parallel, &tile, rank - 1, unroll, &[]);
        let outputs = kernel.outputs.len();
        self.b
            .create_with_body(Nest::DEF, &operands, &attrs, outputs, |b, arguments| {
                body(b, kernel, arguments, None)
            })
    }

    /// The extents of a task: whole but along the first dimension, of which so much that the positions of a
    /// task come near the number asked for.
    fn tile(&self, dims: &[usize]) -> Vec<i64> {
        let Some((&first, rest)) = dims.split_first() else {
            return Vec::new();
        };
        let inner: usize = rest.iter().product::<usize>().max(1);
        let rows = (self.options.tile / inner).clamp(1, first.max(1));
        let mut tile = vec![rows as i64];
        tile.extend(ints(rest));
        tile
    }
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
