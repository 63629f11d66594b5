//! Cumulative reductions.

use mind_ir::opdef::Op;
use mind_loops::extents::known;
use mind_loops::ops::cumulative::Cumulative;

use super::ProgramBuilder;
use super::grid::Work;
use super::kernel::{Computation, KernelCall};
use crate::lower::{Lines, compute_lane};
use crate::program::error::ProgramError;
use mind_vir::program::Axis;

impl ProgramBuilder<'_> {
    /// Builds a kernel whose tasks are stacks of lines.
    pub(super) fn cumulative(&mut self, op: Cumulative) -> Result<(), ProgramError> {
        let g = self.g;
        let (input, axis) = (op.input(g), op.axis(g) as usize);
        self.check_dense(op.id(), &[input])?;
        let (extents, dtype) = (known(g, input), g.ty(input).dtype);
        let lines = Lines {
            dtype,
            prefixes: op.prefixes(g),
            extent: extents[axis],
            inner: extents[axis + 1..].iter().product(),
        };
        let stacks = extents[..axis].iter().product();
        let args = self.regions(op.id(), [input, op.result(g)])?;
        self.call(KernelCall {
            op: op.id(),
            lanes: self.target.lanes(compute_lane(dtype).bits()),
            computation: Computation::Cumulative(lines),
            args,
            grid: [Axis::Range {
                extent: stacks,
                grain: 1,
            }]
            .into_iter()
            .collect(),
            work: Work::new(extents.iter().product(), 4),
        });
        Ok(())
    }
}
