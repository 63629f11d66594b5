//! Random shapes of leaves.

use mind_core::ops::contract::{Dot, MatMul};
use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose};
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::index::Gather;
use mind_core::ops::join::Concat;
use mind_core::ops::pad::PadOp;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_ir::opdef::{Op, Trait};
use mind_rules::{AttrValue, Hint, LhsAttr, LhsDim};

use super::{Chooser, ELEMENTS, EMPTY, EXTENTS, LONG};
use crate::plan::{PlanOp, is_any, is_index};
use crate::strata::Stratum;

impl Chooser<'_, '_> {
    /// Returns a shape for most values of the instance.
    pub(super) fn base_shape(&mut self) -> Vec<i64> {
        let ranks = self.plan.hints.iter().filter_map(|hint| match hint {
            Hint::Rank(_, rank) => usize::try_from(*rank).ok(),
            _ => None,
        });
        // A required rank below 2 is ignored, because it says little about the other values.
        let rank = match ranks.max() {
            Some(rank @ 2..) if self.obedient => rank,
            _ => *self.rng.pick(&[0, 1, 1, 2, 2, 2, 3, 3, 4]),
        };
        let square = *self.rng.pick(&EXTENTS);
        let alike = self.rng.chance(25);
        let mut shape: Vec<i64> = (0..rank)
            .map(|_| {
                if alike {
                    square
                } else {
                    *self.rng.pick(&EXTENTS)
                }
            })
            .collect();
        if rank > 0 && self.rng.chance(10) {
            let large = if self.rng.chance(50) { 0 } else { rank - 1 };
            shape.fill(1);
            shape[large] = *self.rng.pick(&EXTENTS);
        }
        if rank > 0 && self.plan.reduces && self.rng.chance(45) {
            let at = self.rng.below(rank);
            shape[at] = *self.rng.pick(&LONG);
        }
        let mut shape = self.bounded(shape);
        if rank > 0 && self.rng.chance(EMPTY) {
            let at = self.rng.below(rank);
            shape[at] = 0;
        }
        if let Some(Stratum::Scale(_)) = self.stratum {
            // All extents are equal, because scales for one axis then fit another one, too, and the axis matters.
            shape = vec![3; shape.len().max(2)];
        }
        if let Some(Stratum::Extent { axis, extent }) = self.stratum {
            if shape.is_empty()
                && self
                    .plan
                    .hints
                    .iter()
                    .all(|hint| !matches!(hint, Hint::Rank(..)))
            {
                shape.push(extent);
            }
            let last = shape.len().saturating_sub(1);
            shape
                .iter_mut()
                .skip(axis.min(last))
                .take(1)
                .for_each(|own| *own = extent);
        }
        shape
    }

    /// Returns `shape` with extents above 2 reduced to 2, the smallest first, until its elements are few enough.
    fn bounded(&mut self, mut shape: Vec<i64>) -> Vec<i64> {
        while shape.iter().product::<i64>() > ELEMENTS / 4 {
            let smallest = shape.iter().copied().filter(|&extent| extent > 2).min();
            let Some(at) = shape.iter().position(|&extent| Some(extent) == smallest) else {
                break;
            };
            shape[at] = 2;
        }
        shape
    }

    fn extent(&mut self) -> i64 {
        if self.plan.reduces && self.rng.chance(20) {
            *self.rng.pick(&LONG)
        } else {
            self.any_extent()
        }
    }

    /// Returns a random extent, which may be 0.
    pub(super) fn any_extent(&mut self) -> i64 {
        if self.rng.chance(EMPTY) {
            0
        } else {
            *self.rng.pick(&EXTENTS)
        }
    }

    /// Returns a shape for every operand of `op`. The caller ignores those of operands that are known.
    pub(super) fn operand_shapes(
        &mut self,
        op: &PlanOp<'_>,
        known: &[Option<Vec<i64>>],
    ) -> Vec<Vec<i64>> {
        let def = op.left.def;
        if is_any(def, &[MatMul::DEF]) {
            return self.matrices(op, known);
        }
        if is_any(def, &[Dot::DEF]) {
            return self.vectors(op, known);
        }
        if is_any(def, &[DotGeneral::DEF]) {
            return self.paired(known);
        }
        if is_any(def, &[Quantize::DEF, Dequantize::DEF]) {
            return self.scaled(known);
        }
        if is_any(def, &[Conv2d::DEF]) {
            return self.images(known);
        }
        let is_known = known.iter().any(Option::is_some);
        if is_any(def, &[Conv::DEF]) && is_known {
            return self.grouped_images(op, known);
        }
        if is_any(def, &[Conv::DEF, ConvTranspose::DEF]) {
            return self.convolved(op);
        }
        if is_any(def, &[PadOp::DEF]) && known.len() == 2 {
            return vec![self.base.clone(), Vec::new()];
        }
        if let Some(shapes) = self.indexed(op, known) {
            return shapes;
        }
        if is_any(def, &[Concat::DEF]) {
            return self.joined(op, known);
        }
        if is_any(def, &[Gather::DEF]) {
            let indices = match self.rng.below(3) {
                0 => Vec::new(),
                1 => vec![self.any_extent()],
                _ => vec![2, 3],
            };
            let data = if self.base.is_empty() {
                vec![3]
            } else {
                self.base.clone()
            };
            return vec![data, indices];
        }
        let first = known.iter().flatten().next().cloned();
        // Mostly independent of a scalar or a vector, because a scalar broadcasts with any shape.
        let first = first.filter(|shape| shape.len() > 1 || self.rng.chance(30));
        let first = first.unwrap_or_else(|| {
            if self.rng.chance(15) {
                self.base_shape()
            } else {
                self.base.clone()
            }
        });
        let related = def.has(Trait::Elementwise) && op.operands.len() > 1;
        let mut settled = false;
        let mut shapes = Vec::new();
        for (at, shape) in known.iter().enumerate() {
            let own = match shape {
                Some(shape) => shape.clone(),
                None if !settled && at == 0 => first.clone(),
                None if related && !is_index(def, at) => self.broadcast_to(&first),
                None => first.clone(),
            };
            settled |= at == 0;
            shapes.push(own);
        }
        if related && known.iter().all(Option::is_none) && self.rng.chance(30) {
            // Either operand may be the broadcast one.
            shapes.reverse();
        }
        shapes
    }

    /// Returns a shape that broadcasts with `shape`.
    fn broadcast_to(&mut self, shape: &[i64]) -> Vec<i64> {
        let mut shape = shape.to_vec();
        match self.rng.below(100) {
            0..60 => {}
            60..72 => shape.clear(),
            72..84 => {
                for extent in &mut shape {
                    if self.rng.chance(50) {
                        *extent = 1;
                    }
                }
            }
            84..92 => {
                let dropped = self.rng.below(shape.len() + 1);
                shape.drain(..dropped);
            }
            _ => {
                for extent in &mut shape {
                    if *extent == 1 {
                        *extent = *self.rng.pick(&EXTENTS);
                    }
                }
                shape.insert(0, *self.rng.pick(&EXTENTS[..3]));
            }
        }
        shape
    }

    /// Returns the operands of a matrix product: `[..batch, m, k]` and `[..batch, k, n]`.
    fn matrices(&mut self, op: &PlanOp<'_>, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let end = |shape: &Option<Vec<i64>>, back: usize| {
            let shape = shape.as_ref()?;
            shape.len().checked_sub(back).map(|at| shape[at])
        };
        let flat = |rank: Option<i64>| rank == Some(2);
        let k = end(&known[0], 1).or(end(&known[1], 2));
        let k = k.unwrap_or_else(|| self.extent());
        let last = self.matrix.filter(|_| self.rng.chance(70));
        let (last_m, last_n) = (last.map(|last| last[0]), last.map(|last| last[2]));
        let m = end(&known[0], 2)
            .or(last_m)
            .unwrap_or_else(|| self.any_extent());
        let n = end(&known[1], 1)
            .or(last_n)
            .unwrap_or_else(|| self.any_extent());
        let [m, k, n] = self.product_extents([m, k, n], known);
        self.matrix = Some([m, k, n]);
        let batch: Vec<i64> = match known.iter().flatten().next() {
            Some(shape) => shape[..shape.len().saturating_sub(2)].to_vec(),
            None => self.base[..self.base.len().saturating_sub(2)].to_vec(),
        };
        let mut operand = |value: usize, tail: [i64; 2]| {
            let mut shape = if flat(self.plan.rank(value)) || self.rng.chance(15) {
                Vec::new()
            } else {
                batch.clone()
            };
            shape.extend(tail);
            shape
        };
        vec![
            operand(op.operands[0], [m, k]),
            operand(op.operands[1], [k, n]),
        ]
    }

    /// Returns the rows, contracted extent and columns of a product. If no operand is known, the stratum may set one of
    /// them.
    fn product_extents(&self, mut extents: [i64; 3], known: &[Option<Vec<i64>>]) -> [i64; 3] {
        if let Some(Stratum::Extent { axis, extent }) = self.stratum
            && known.iter().all(Option::is_none)
        {
            extents[axis] = extent;
        }
        extents
    }

    /// Returns the operands of an inner product.
    fn vectors(&mut self, op: &PlanOp<'_>, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let k = known[0].as_ref().and_then(|shape| shape.last().copied());
        let k = k.or(known[1].as_ref().and_then(|shape| shape.first().copied()));
        let k = k.unwrap_or_else(|| self.extent());
        let outer = [*self.rng.pick(&EXTENTS), *self.rng.pick(&EXTENTS)];
        let mut matrix = |value: usize| match self.plan.rank(value) {
            Some(rank) => rank == 2,
            None => self.rng.chance(50),
        };
        let lhs = if matrix(op.operands[0]) {
            vec![outer[0], k]
        } else {
            vec![k]
        };
        let rhs = if matrix(op.operands[1]) {
            vec![k, outer[1]]
        } else {
            vec![k]
        };
        vec![lhs, rhs]
    }

    /// Returns an NHWC image and an HWCF filter.
    fn images(&mut self, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let small = |rng: &mut mind_ir::random::Rng, list: &[i64]| *rng.pick(list);
        let image = |at: usize| known[0].as_ref().and_then(|shape| shape.get(at).copied());
        let filter = |at: usize| known[1].as_ref().and_then(|shape| shape.get(at).copied());
        let last = self.image.filter(|_| self.rng.chance(80));
        let before = |at: usize| last.map(|last| last[at]);
        let (h, w) = (
            image(1)
                .or(before(1))
                .unwrap_or_else(|| small(self.rng, &[1, 2, 3, 5])),
            image(2)
                .or(before(2))
                .unwrap_or_else(|| small(self.rng, &[1, 2, 3, 5])),
        );
        let channels = image(3).or(filter(2));
        let channels = channels.unwrap_or_else(|| {
            let empty = self.rng.chance(EMPTY);
            if empty {
                0
            } else {
                small(self.rng, &[1, 2, 3, 17])
            }
        });
        let window = match self.rng.below(3) {
            0 => [1, 1],
            1 => [h, w],
            _ => [small(self.rng, &[1, 2, 3]), small(self.rng, &[1, 2, 3])],
        };
        let (batch, window, features) = match last {
            Some([batch, _, _, kh, kw, features]) => (batch, [kh, kw], features),
            None => {
                let batch = small(self.rng, &[1, 2, 3]);
                (batch, window, small(self.rng, &[1, 2, 3, 5]))
            }
        };
        self.image = Some([batch, h, w, window[0], window[1], features]);
        vec![
            vec![batch, h, w, channels],
            vec![window[0], window[1], channels, features],
        ]
    }

    /// Returns an image and a filter of a grouped convolution with one to three spatial dimensions, in the layout that
    /// the rule writes.
    fn grouped_images(&mut self, op: &PlanOp<'_>, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let is_nchw = matches!(
            op.left.attrs.first(),
            Some(LhsAttr::Fixed(AttrValue::Word("nchw")))
        );
        let image = known[0]
            .clone()
            .filter(|shape| (3..=5).contains(&shape.len()));
        let image = image.unwrap_or_else(|| {
            let spatial = self.rng.within(1, 2);
            let pick = |own: &mut Self| *own.rng.pick(&[1, 2, 3, 5]);
            (0..spatial + 2).map(|_| pick(self)).collect()
        });
        let spatial = image.len() - 2;
        let channels = if is_nchw {
            image[1]
        } else {
            image[spatial + 1]
        };
        self.groups = if self.rng.chance(30) {
            channels.max(1)
        } else {
            1
        };
        let features = self.groups * self.rng.within(1, 2);
        let taps: Vec<i64> = (0..spatial).map(|_| *self.rng.pick(&[1, 2, 3])).collect();
        let own = channels / self.groups;
        let filter = if is_nchw {
            [&[features, own], &taps[..]].concat()
        } else {
            [&taps[..], &[own, features]].concat()
        };
        vec![image, filter]
    }

    /// Returns operands that differ along at most one axis.
    fn joined(&mut self, op: &PlanOp<'_>, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let first = known.iter().flatten().next().cloned();
        let first = first.unwrap_or_else(|| {
            if self.base.is_empty() {
                vec![self.any_extent()]
            } else {
                self.base.clone()
            }
        });
        let rank = first.len() as i64;
        let written = match op.left.attrs.first() {
            Some(LhsAttr::Fixed(AttrValue::Int(axis))) => Some(*axis),
            _ => None,
        };
        let axis = written.unwrap_or_else(|| self.rng.within(0, (rank - 1).max(0)));
        let axis = if axis < 0 { axis + rank } else { axis };
        self.axis = Some(axis);
        let longer = self.rng.chance(50);
        let mut shapes = Vec::new();
        for shape in known {
            let mut own = first.clone();
            if let (true, Some(extent)) = (longer, own.get_mut(axis as usize)) {
                *extent = self.any_extent();
            }
            shapes.push(shape.clone().unwrap_or(own));
        }
        shapes
    }

    /// Returns the shape that the condition or a written type requires, or else `drawn`.
    pub(super) fn hinted(&mut self, value: usize, drawn: Vec<i64>) -> Vec<i64> {
        let plan = self.plan;
        let written = plan.types.iter().find(|(own, _)| *own == value);
        if let Some(shape) = written.and_then(|(_, ty)| ty.shape.as_ref()) {
            return self.written(shape, &drawn);
        }
        for hint in &plan.hints {
            let other = match *hint {
                Hint::SameShape(a, b) if a == value => b,
                Hint::SameShape(a, b) if b == value => a,
                _ => continue,
            };
            if let Some(shape) = self.shapes[other].clone().filter(|_| self.rng.chance(90)) {
                return shape;
            }
        }
        let mut shape = drawn;
        if let Some(rank) = plan.rank(value).filter(|_| self.obedient) {
            while (shape.len() as i64) < rank {
                shape.insert(0, *self.rng.pick(&EXTENTS));
            }
            while shape.len() as i64 > rank {
                shape.remove(0);
            }
        }
        shape
    }

    /// Returns a shape that matches a written one. Named extents keep the values that they had in earlier types.
    fn written(&mut self, pattern: &[LhsDim], drawn: &[i64]) -> Vec<i64> {
        let mut shape = Vec::new();
        let fixed = pattern
            .iter()
            .filter(|dim| !matches!(dim, LhsDim::Rest(_)))
            .count();
        for (at, dim) in pattern.iter().enumerate() {
            match *dim {
                LhsDim::Fixed(extent) => shape.push(extent),
                LhsDim::Named(number) => {
                    let known = self.dims.iter().find(|(own, _)| *own == number);
                    let extent = known.map(|&(_, extent)| extent);
                    let extent = extent.unwrap_or_else(|| {
                        if drawn.len() == pattern.len() {
                            drawn[at]
                        } else {
                            *self.rng.pick(&EXTENTS)
                        }
                    });
                    self.dims.push((number, extent));
                    shape.push(extent);
                }
                LhsDim::Rest(number) => {
                    let known = self.rests.iter().find(|(own, _)| *own == number);
                    let rest = known.map(|(_, rest)| rest.clone());
                    let rest = rest.unwrap_or_else(|| {
                        let length = drawn.len().saturating_sub(fixed);
                        drawn[..length].to_vec()
                    });
                    shape.extend(&rest);
                    self.rests.push((number, rest));
                }
            }
        }
        shape
    }
}
