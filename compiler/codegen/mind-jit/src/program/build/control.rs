//! Control flow: each region is compiled to a program of its own.

use mind_core::ops::control::{self, If, Scan, While};
use mind_core::region::outline;
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use mind_loops::extents::known;
use mind_loops::ops::evaluate::Evaluate;
use mind_vir::program::{Base, Control, Flow, Slices, Step};

use super::ProgramBuilder;
use crate::program::error::ProgramError;

impl ProgramBuilder<'_> {
    /// Builds a step that runs the regions of the control-flow op `inner` in the body of `op`.
    pub(super) fn control(&mut self, op: Evaluate, inner: OpId) -> Result<(), ProgramError> {
        let (g, id) = (self.g, op.id());
        self.check_dense(id, op.inputs(g))?;
        let outside = |value: &ValueId| {
            let arguments = g.arguments(op.body(g)).into_iter();
            let at = arguments.clone().position(|argument| argument == *value);
            op.inputs(g)[at.expect("a closed region reads its arguments")]
        };
        let operands: Vec<ValueId> = g.operands(inner).iter().map(outside).collect();
        let stays = |value: ValueId| {
            let base = self.layout.buffer(g, value).base;
            matches!(base, Base::Constants | Base::Param(_) | Base::Bound)
        };
        // Operands of the regions: the step itself reads the first `skipped` operands, and weights follow the first
        // `moving`.
        let (skipped, moving, flow) = if g.is::<If>(inner) {
            let others = operands[1..].iter().filter(|&&value| !stays(value));
            (1, others.count(), Flow::If)
        } else if let Some(loops) = g.view::<While>(inner) {
            (0, loops.initial(g).len(), Flow::While)
        } else {
            let scan = Scan::from_id(inner);
            (
                0,
                scan.initial(g).len() + scan.inputs(g).len(),
                self.flow(scan)?,
            )
        };
        let is_fixed = |at: usize| match flow {
            Flow::If => stays(operands[skipped + at]),
            Flow::While | Flow::Scan { .. } => at >= moving,
        };
        let given = operands.iter().enumerate().skip(skipped);
        let (fixed, moving): (Vec<_>, Vec<_>) = given.partition(|(at, _)| is_fixed(at - skipped));
        let skipped = operands[..skipped].iter();
        let read: Vec<ValueId> = skipped
            .chain(moving.iter().map(|(_, value)| *value))
            .copied()
            .collect();
        let fixed: Vec<ValueId> = fixed.iter().map(|(_, value)| **value).collect();
        let first = self.regions.len();
        let blocks = (0..g.regions(inner).len()).map(|region| control::block(g, inner, region));
        let regions: Vec<_> = blocks.map(|block| outline(g, block, is_fixed)).collect();
        let step = Control {
            programs: (first..first + regions.len()).collect(),
            operands: self.regions(id, read)?,
            is_bound_once: fixed.iter().all(|&value| stays(value)),
            fixed: self.regions(id, fixed)?,
            results: self.regions(id, g.results(id))?,
            op: g.def(inner).name,
            flow,
        };
        self.regions.extend(regions);
        self.push(id, Step::Control(step));
        Ok(())
    }

    /// Returns the slices of a scan.
    ///
    /// # Errors
    ///
    /// The slices are not contiguous.
    fn flow(&self, scan: Scan) -> Result<Flow, ProgramError> {
        let g = self.g;
        let axes = [scan.input_axes(g), scan.output_axes(g)];
        if axes.iter().flatten().any(|&axis| axis != 0) {
            return self.refuse(scan.id(), "it scans along another axis than the first");
        }
        let steps = known(g, scan.inputs(g)[0])[0];
        let slices = |value: ValueId, is_reversed: bool| {
            let count: usize = known(g, value)[1..].iter().product();
            let bytes = count * g.ty(value).dtype.size();
            Slices { bytes, is_reversed }
        };
        let carried = scan.initial(g).len();
        let inputs = scan.inputs(g).iter().enumerate();
        let outputs = g.results(scan.id()).into_iter().skip(carried).enumerate();
        Ok(Flow::Scan {
            steps,
            carried,
            inputs: inputs
                .map(|(at, &value)| slices(value, scan.is_input_reversed(g, at)))
                .collect(),
            outputs: outputs
                .map(|(at, value)| slices(value, scan.is_output_reversed(g, at)))
                .collect(),
        })
    }
}
