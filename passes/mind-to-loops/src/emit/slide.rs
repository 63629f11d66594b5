//! Emits sliding windows.

use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_loops::ops::slide::{Slide, vector_axis};
use mind_tensor::ops::slide::Slide as TensorSlide;

use super::{Emitted, Emitter};
use crate::kernel::Kernel;

impl Emitter<'_, '_> {
    /// Emits sliding windows over the first operand. Threads share the first dimension that is not vectorised.
    pub(super) fn slide(&mut self, kernel: &Kernel, origin: OpId) -> Emitted<ValueId> {
        let operands = self.values(kernel);
        let windows = TensorSlide::from_id(origin).windows(self.graph())?;
        let lists = windows.lists();
        let [positions, window, strides, dilations, low, base] =
            lists.each_ref().map(Vec::as_slice);
        let vector = vector_axis(kernel.dims.iter().copied());
        let shared = (0..kernel.dims.len())
            .find(|&axis| Some(axis) != vector && kernel.dims[axis] > 1)
            .map(|axis| axis as i64);
        Slide::with(
            windows.kind,
            positions,
            window,
            strides,
            dilations,
            low,
            base,
        )
        .parallel(shared.as_slice())
        .build(&mut self.b, &operands)
    }
}
