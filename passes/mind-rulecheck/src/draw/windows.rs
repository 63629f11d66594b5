//! Drawing what is written of windows and margins, an entry for each axis, and shapes to stretch to.

use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::dynamic::DynamicSlice;
use mind_core::ops::pad::PadOp;
use mind_core::ops::window::ReduceWindow;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::Dim;

use super::{Chooser, EXTENTS};
use crate::plan::is_any;

impl Chooser<'_, '_> {
    /// The list `name` of an op with windows or margins over `shape`; `None` for another op.
    pub(super) fn window_list(
        &mut self,
        def: &'static OpDef,
        name: &str,
        shape: &[i64],
    ) -> Option<Vec<i64>> {
        let whole = |own: &mut Self, list: &[i64]| -> Vec<i64> {
            shape.iter().map(|_| *own.rng.pick(list)).collect()
        };
        let spatial = shape.len().saturating_sub(2);
        Some(if is_any(def, &[PadOp::DEF]) {
            match name {
                "interior" if self.rng.chance(70) => Vec::new(),
                "interior" => whole(self, &[0, 0, 1]),
                _ if self.plan.convolves && self.rng.chance(80) => {
                    self.spatial_margins(shape.len())
                }
                _ if self.rng.chance(15) => whole(self, &[0, -1, -2]),
                _ => whole(self, &[0, 0, 1, 2, 0, -1]),
            }
        } else if is_any(def, &[ReduceWindow::DEF]) {
            match name {
                "window" => shape
                    .iter()
                    .map(|&extent| *self.rng.pick(&[1, 2, 3, extent]))
                    .collect(),
                _ if self.rng.chance(40) => Vec::new(),
                "strides" | "dilations" => whole(self, &[1, 1, 2]),
                _ => whole(self, &[0, 0, 1]),
            }
        } else if is_any(def, &[Conv::DEF, ConvTranspose::DEF]) {
            match name {
                _ if self.rng.chance(40) => Vec::new(),
                "strides" | "dilations" => {
                    (0..spatial).map(|_| *self.rng.pick(&[1, 1, 2])).collect()
                }
                "pads" => (0..2 * spatial)
                    .map(|_| *self.rng.pick(&[0, 0, 1, 2]))
                    .collect(),
                _ => vec![0; spatial],
            }
        } else if is_any(def, &[DynamicSlice::DEF]) {
            let whole = self.rng.chance(30);
            let size = |&extent: &i64| {
                if whole {
                    extent
                } else {
                    self.rng.within(1, extent)
                }
            };
            shape.iter().map(size).collect()
        } else {
            return None;
        })
    }

    /// Margins of an image of `rank`: of its spatial axes in either layout, or of the last ones.
    fn spatial_margins(&mut self, rank: usize) -> Vec<i64> {
        let last = if self.rng.chance(50) {
            rank
        } else {
            rank.saturating_sub(1)
        };
        let first = (last + 2).saturating_sub(rank).max(1);
        let margin = |axis: usize| match (first..last).contains(&axis) {
            true => self.rng.within(0, 2),
            false => 0,
        };
        (0..rank).map(margin).collect()
    }

    /// A shape that `operand` is stretched to.
    pub(super) fn stretched(&mut self, operand: &[Dim]) -> Vec<Dim> {
        let mut dims: Vec<Dim> = operand.to_vec();
        for dim in &mut dims {
            if *dim == Dim::Fixed(1) && self.rng.chance(60) {
                *dim = Dim::Fixed(*self.rng.pick(&EXTENTS));
            } else if self.rng.chance(10) {
                *dim = Dim::Fixed(-1);
            }
        }
        for _ in 0..self.rng.below(3) {
            dims.insert(0, Dim::Fixed(*self.rng.pick(&EXTENTS[..4])));
        }
        dims
    }
}
