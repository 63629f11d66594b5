//! Block-quantised weights.

use mind_core::ops::input::Input;
use mind_ir::ValueId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, QuantFormat};
use mind_loops::extents::{dense, known};
use mind_loops::memory::buffer;
use mind_loops::ops::block_product::BlockProduct;
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

/// A quantised matrix and its panel layout.
#[derive(Clone, Copy, Debug)]
pub(in crate::program) struct Matrix {
    n: usize,
    k: usize,
    panels: QuantPanels,
}

/// The quantised matrices of a module.
#[derive(Debug, Default)]
pub(in crate::program) struct Quantised {
    /// Weights that are bound in their quantised format. Their type is an `f32` matrix `[n, k]`, and their only uses
    /// are transpositions that are packed as right-hand sides of products.
    weights: FxHashMap<ValueId, Matrix>,
    /// Packs that integer products read. Their type is also that of the blocks' bytes.
    packs: FxHashMap<ValueId, Matrix>,
}

impl Quantised {
    /// Finds the quantised matrices of a module at loops level. Weights with other uses are bound as `f32`, whatever
    /// their format.
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
            fits.then(|| (value, Matrix::new([n, k], format, target)))
        });
        Quantised {
            weights: weights.collect(),
            ..Quantised::of_bytes(g, target)
        }
    }

    /// Finds only those whose type is that of the blocks' bytes.
    pub(in crate::program) fn of_bytes(g: &Graph, target: &TargetInfo) -> Quantised {
        let products = g.ops(g.body()).filter_map(|op| g.view::<BlockProduct>(op));
        let packs = products.filter_map(|product| {
            let (pack, format) = (product.blocks(g), product.format(g)?);
            let &[n, bytes] = known(g, pack).as_slice() else {
                return None;
            };
            let k = bytes / format.block_bytes() * format.elements();
            let pack = g.view::<Pack>(g.defining_op(pack)?)?;
            Some((pack.result(g), Matrix::new([n, k], format, target)))
        });
        Quantised {
            packs: packs.collect(),
            ..Quantised::default()
        }
    }

    /// Returns the quantised format of a weight; `None` if it is bound as numbers.
    pub(in crate::program) fn format(&self, weight: ValueId) -> Option<QuantFormat> {
        let matrix = self.weights.get(&weight)?;
        Some(matrix.panels.format)
    }

    /// Returns the quantised matrix that `pack` reads; `None` if it packs numbers.
    pub(in crate::program) fn packed(&self, g: &Graph, pack: Pack) -> Option<Matrix> {
        let own = self.packs.get(&pack.result(g));
        own.or_else(|| self.weights.get(&buffer(g, pack.input(g))))
            .copied()
    }

    /// Returns the bytes of the quantised panels of `pack`; `None` if it packs numbers.
    pub(in crate::program) fn packed_bytes(&self, g: &Graph, pack: Pack) -> Option<u64> {
        let Matrix { n, k, panels } = self.packed(g, pack)?;
        Some(panels.bytes(n, k) as u64)
    }
}

impl Matrix {
    fn new([n, k]: [usize; 2], format: QuantFormat, target: &TargetInfo) -> Matrix {
        let lanes = target.lanes(DType::F32.size() as u32 * 8) as usize;
        let width = SHARED_VECTORS.min(n.div_ceil(lanes)).max(1) * lanes;
        let panels = QuantPanels { width, format };
        Matrix { n, k, panels }
    }
}

/// Returns whether `value` and its views are only packed as panels of the transposed matrix.
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
    /// Packs a weight that is bound in its quantised format.
    pub(super) fn pack_quantised(
        &mut self,
        op: Pack,
        Matrix { n, k, panels }: Matrix,
    ) -> Result<(), ProgramError> {
        let g = self.g;
        let weight = buffer(g, op.input(g));
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
