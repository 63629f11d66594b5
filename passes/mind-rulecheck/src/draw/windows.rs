//! Random window and padding lists, which have an entry per axis, and shapes to broadcast to.

use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::dynamic::DynamicSlice;
use mind_core::ops::pad::PadOp;
use mind_core::ops::window::ReduceWindow;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::Dim;
use mind_rules::{AttrValue, LhsAttr};

use super::{Chooser, EXTENTS};
use crate::plan::{PlanOp, is_any};

/// Returns whether the channels of images and filters precede their spatial dimensions.
fn is_channels_first(layout: Option<&AttrValue>) -> bool {
    matches!(layout, Some(AttrValue::Word("nchw")))
}

impl Chooser<'_, '_> {
    /// Returns an image and a filter of a grouped convolution with one to three spatial dimensions.
    pub(super) fn convolved(&mut self, op: &PlanOp<'_>) -> Vec<Vec<i64>> {
        let written = op.left.attrs.iter().find_map(|attr| match attr {
            LhsAttr::Fixed(value @ AttrValue::Word(_)) => Some(*value),
            LhsAttr::Fixed(_) | LhsAttr::Named(_) => None,
        });
        let groups = op.left.def.attr_index("groups");
        let is_dense = groups.is_some_and(|at| match op.left.attrs[at] {
            LhsAttr::Fixed(value) => *value == AttrValue::Int(1),
            LhsAttr::Named(_) => false,
        });
        let spatial = match (self.lists(op), self.plan.rank(op.operands[0])) {
            (Some(entries), _) => entries,
            (None, Some(rank)) => (rank - 2).max(1) as usize,
            (None, None) => *self.rng.pick(&[1, 2, 2, 3]),
        };
        let mut draw = |choices: &[i64]| *self.rng.pick(choices);
        let groups = if is_dense { 1 } else { draw(&[1, 1, 2, 3]) };
        let (batch, each, out) = (draw(&[1, 2]), draw(&[1, 2, 5]), draw(&[1, 2, 3]));
        let extents: Vec<i64> = (0..spatial).map(|_| draw(&[2, 3, 5])).collect();
        let taps: Vec<i64> = (0..spatial).map(|_| draw(&[1, 2, 3])).collect();
        self.groups = groups;
        let inner = if is_any(op.left.def, &[ConvTranspose::DEF]) {
            [out, groups * each]
        } else {
            [each, groups * out]
        };
        if is_channels_first(written) {
            let image = [&[batch, groups * each][..], &extents].concat();
            vec![image, [&[inner[1], inner[0]][..], &taps].concat()]
        } else {
            let image = [&[batch][..], &extents, &[groups * each]].concat();
            vec![image, [&taps[..], &inner].concat()]
        }
    }

    /// Returns the number of spatial dimensions if the left side writes the dilations.
    fn lists(&self, op: &PlanOp<'_>) -> Option<usize> {
        let at = op.left.def.attr_index("dilations")?;
        match op.left.attrs[at] {
            LhsAttr::Fixed(AttrValue::Ints(list)) if !list.is_empty() => Some(list.len()),
            LhsAttr::Fixed(_) | LhsAttr::Named(_) => None,
        }
    }

    /// Returns the list `name` of an op with windows or padding over `shape`; `None` for other ops.
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
        Some(if is_any(def, &[Conv2d::DEF]) && name == "strides" {
            vec![self.rng.within(1, 2), self.rng.within(1, 3)]
        } else if is_any(def, &[PadOp::DEF]) {
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

    /// Returns the padding of an image of `rank`, along the spatial axes of an NCHW or an NHWC layout.
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

    /// Returns a shape that `operand` can be broadcast to.
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
