//! Drawing windows: the shapes of what they slide over, and the lists that say how.

use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::pad::PadOp;
use mind_core::ops::window::ReduceWindow;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::Dim;
use mind_rules::{AttrValue, LhsAttr};

use super::Chooser;
use crate::plan::{PlanOp, is_any};

/// Whether the channels of images and filters come before their spatial dimensions.
fn is_channels_first(layout: Option<&AttrValue>) -> bool {
    matches!(layout, Some(AttrValue::Word("nchw")))
}

impl Chooser<'_, '_> {
    /// An image and a filter of a convolution of one to three dimensions by groups.
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

    /// How many dimensions the dilations of a left side are written for.
    fn lists(&self, op: &PlanOp<'_>) -> Option<usize> {
        let at = op.left.def.attr_index("dilations")?;
        match op.left.attrs[at] {
            LhsAttr::Fixed(AttrValue::Ints(list)) if !list.is_empty() => Some(list.len()),
            LhsAttr::Fixed(_) | LhsAttr::Named(_) => None,
        }
    }

    /// The groups that shapes drawn before have.
    pub(super) fn groups(&self, before: &[AttrValue], shapes: &[Vec<i64>], def: &OpDef) -> i64 {
        let is_first = is_channels_first(before.first());
        let [image, filter, ..] = shapes else {
            return 1;
        };
        let channels = |shape: &[i64], from_last: usize, at: usize| {
            let at = if is_first {
                at
            } else {
                shape.len() - from_last
            };
            shape[at]
        };
        if std::ptr::eq(def, ConvTranspose::DEF) {
            let own = channels(image, 1, 1);
            return *[2, 3]
                .iter()
                .find(|&&groups| own % groups == 0)
                .unwrap_or(&1);
        }
        (channels(image, 1, 1) / channels(filter, 2, 1).max(1)).max(1)
    }

    /// A list with an entry for each dimension along which a window of `def` slides; `None` for other lists.
    pub(super) fn window_list(
        &mut self,
        def: &'static OpDef,
        name: &str,
        shape: &[i64],
    ) -> Option<Vec<i64>> {
        let spatial = shape.len().saturating_sub(2);
        let entries = match name {
            "strides" if is_any(def, &[Conv2d::DEF]) => 2,
            "pads" => 2 * spatial,
            _ if is_any(def, &[Conv::DEF, ConvTranspose::DEF]) => spatial,
            _ if is_any(def, &[ReduceWindow::DEF, PadOp::DEF]) => shape.len(),
            _ => return None,
        };
        let choices: &[i64] = match name {
            "strides" => &[1, 1, 2, 3],
            "dilations" => &[1, 1, 2],
            "window" => &[1, 1, 2, 3],
            "pads" | "low" | "high" => &[0, 0, 1, 2],
            _ => &[0, 0, 1],
        };
        Some((0..entries).map(|_| *self.rng.pick(choices)).collect())
    }

    /// A shape that a value of `shape` broadcasts to; `None` for the shapes of other ops.
    pub(super) fn stretched(&mut self, def: &'static OpDef, shape: &[Dim]) -> Option<Vec<Dim>> {
        if !is_any(def, &[BroadcastTo::DEF]) {
            return None;
        }
        let mut stretched = |dim: &Dim| match *dim {
            Dim::Fixed(1) => Dim::Fixed(self.rng.within(1, 3)),
            other => other,
        };
        let mut shape: Vec<Dim> = shape.iter().map(&mut stretched).collect();
        if self.rng.chance(40) {
            shape.insert(0, Dim::Fixed(self.rng.within(1, 3)));
        }
        Some(shape)
    }
}
