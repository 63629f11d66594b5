//! Sliding windows (pooling).

use mind_core::slide::SlideKind;
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_loops::ops::slide::{Slide as SlideOp, vector_axis};

use super::ProgramBuilder;
use super::grid::Work;
use super::kernel::{Computation, KernelCall};
use crate::lower::compute_lane;
use crate::lower::slide::{Axis as SlideAxis, MOST_PHASES, Slide};
use crate::program::error::ProgramError;
use mind_vir::program::Axis;

impl ProgramBuilder<'_> {
    /// Builds sliding windows. The grid has the range of the parallel dimension.
    pub(super) fn slide(&mut self, op: SlideOp) -> Result<(), ProgramError> {
        let (g, id) = (self.g, op.id());
        let windows = op.windows(g).expect("verified attributes");
        let result = self.strided(op.result(g));
        let inputs: Vec<_> = op
            .inputs(g)
            .iter()
            .map(|&value| self.strided(value))
            .collect();
        let axes = windows.axes.iter().enumerate().map(|(at, &slide)| {
            let other = inputs.get(1).map_or(0, |other| match other.extents[at] {
                1 => 0,
                _ => other.strides[at],
            });
            let counts_taps = windows.counts_taps(at);
            SlideAxis {
                slide,
                input: inputs[0].strides[at],
                tap: if counts_taps { other } else { 0 },
                place: if counts_taps { 0 } else { other },
                output: result.strides[at],
            }
        });
        let slide = Slide {
            dtype: g.ty(op.inputs(g)[0]).dtype,
            kind: windows.kind,
            axes: axes.collect(),
            offsets: [0, 1].map(|at| inputs.get(at).map_or(0, |input| input.offset)),
            vector: vector_axis(windows.axes.iter().map(|axis| axis.positions)),
            shared: op.shared(g),
        };
        if slide.phases() > MOST_PHASES {
            return self.refuse(id, "its positions are of too many kinds");
        }
        let extent = slide.extent();
        let grid = slide.shared.map(|_| Axis::Range { extent, grain: 1 });
        let positions = result.extents.iter().product();
        let taps = windows
            .axes
            .iter()
            .map(|axis| axis.window.min(axis.extent.max(1)));
        let taps = taps.fold(1, usize::saturating_mul);
        let terms = taps.saturating_mul(positions);
        let (operations, products) = match slide.kind {
            SlideKind::Multiply | SlideKind::MultiplyInside => (2, terms),
            SlideKind::Max | SlideKind::Min => (2, 0),
            SlideKind::Sum | SlideKind::Prod | SlideKind::Mean => (1, 0),
        };
        let values: Vec<ValueId> = op.inputs(g).iter().copied().chain([op.result(g)]).collect();
        self.call(KernelCall {
            op: id,
            lanes: self.target.lanes(compute_lane(slide.dtype).bits()),
            args: self.regions(id, values)?,
            grid: grid.into_iter().collect(),
            computation: Computation::Slide(Box::new(slide)),
            work: Work::new(positions, taps.saturating_mul(operations)).and_products(products),
        });
        Ok(())
    }
}
