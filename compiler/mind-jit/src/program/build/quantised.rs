//! Weights that are given in blocks of quantised numbers.

use mind_core::ops::input::Input;
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_loops::extents::{dense, known};
use mind_loops::memory::buffer;
use mind_loops::ops::movement::Pack;
use mind_loops::ops::view::View;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::grid::Work;
use super::kernel::{Computation, KernelCall};
use super::pack::SHARED_VECTORS;
use super::{Packed, ProgramBuilder};
use crate::lower::product::{QuantPacking, QuantPanels, Rhs};
use crate::program::error::ProgramError;
use mind_vir::program::Axis;
use mind_vir::target::TargetInfo;

/// The weights that are bound as they are stored, and the panels that are made of each.
///
/// They are matrices of `f32` by their type, `[n, k]`, whose transpositions are right sides of products and
/// nothing else.
#[derive(Debug, Default)]
pub(in crate::program) struct Quantised(FxHashMap<ValueId, QuantPanels>);

impl Quantised {
    /// Those of a module at loops level. Weights that are read in other ways are given as numbers, whatever their
    /// format.
    pub(in crate::program) fn of(g: &Graph, target: &TargetInfo) -> Quantised {
        let inputs = g.ops(g.body()).filter_map(|op| g.view::<Input>(op));
        let weights = inputs.filter(|input| input.param(g)).filter_map(|input| {
            let (value, format) = (input.result(g), input.stored(g)?);
            let &[n, k] = known(g, value).as_slice() else {
                return None;
            };
            let fits = g.ty(value).dtype == DType::F32
                && k > 0
                && format.row_bytes(k).is_some()
                && is_right_side(g, value, [n, k]);
            let lanes = target.lanes(DType::F32.size() as u32 * 8) as usize;
            let width = SHARED_VECTORS.min(n.div_ceil(lanes)).max(1) * lanes;
            fits.then_some((value, QuantPanels { width, format }))
        });
        Quantised(weights.collect())
    }

    /// The panels that are made of the weight that `value` is, or is a view of.
    pub(in crate::program) fn panels(&self, g: &Graph, value: ValueId) -> Option<QuantPanels> {
        self.0.get(&buffer(g, value)).copied()
    }

    /// Bytes of the panels that a pack of `value` makes.
    pub(in crate::program) fn packed_bytes(&self, g: &Graph, value: ValueId) -> Option<u64> {
        let panels = self.panels(g, value)?;
        let [n, k] = matrix(g, buffer(g, value));
        Some(panels.bytes(n, k) as u64)
    }
}

/// The extents of a quantised weight.
fn matrix(g: &Graph, weight: ValueId) -> [usize; 2] {
    let extents = known(g, weight);
    [extents[0], extents[1]]
}

/// Whether panels of the transposed matrix, and nothing else, are made of `value` or of views of it.
fn is_right_side(g: &Graph, value: ValueId, [n, k]: [usize; 2]) -> bool {
    g.uses(value).all(|(op, _)| {
        if g.is::<View>(op) {
            return is_right_side(g, g.result(op), [n, k]);
        }
        let view = || g.view::<View>(g.defining_op(value)?);
        let strides = match view() {
            Some(view) if view.offset(g) == 0 => view.strides(g).to_vec(),
            Some(_) => return false,
            None => dense(&known(g, value)),
        };
        let packs = g.view::<Pack>(op).is_some_and(|pack| pack.batch(g) == 0);
        packs && known(g, value) == [k, n] && strides == [1, k as i64]
    })
}

impl ProgramBuilder<'_> {
    /// Panels of a weight that is given as it is stored.
    pub(super) fn pack_quantised(
        &mut self,
        op: Pack,
        panels: QuantPanels,
    ) -> Result<(), ProgramError> {
        let g = self.g;
        let weight = buffer(g, op.input(g));
        let [n, k] = matrix(g, weight);
        let result = op.result(g);
        let packed = Packed {
            rhs: Rhs::Quantised(panels),
            sizes: [1, k, n],
        };
        self.panels.insert(result, packed);
        let packing = QuantPacking { n, k, panels };
        let lanes = self.target.lanes(DType::F32.size() as u32 * 8);
        let mut grid: SmallVec<[Axis; 4]> = SmallVec::new();
        grid.push(Axis::Range {
            extent: packing.count(),
            grain: 1,
        });
        let stored = panels.format.bytes(n * k);
        let from = self.part(op.id(), self.layout.buffer(g, weight), stored)?;
        self.call(KernelCall {
            op: op.id(),
            lanes,
            computation: Computation::PackQuantised(packing),
            args: [from, self.region(op.id(), result)?].into_iter().collect(),
            grid,
            work: Work::new(n * k, 2),
        });
        Ok(())
    }
}
