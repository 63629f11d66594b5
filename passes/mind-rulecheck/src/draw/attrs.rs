//! Random attributes. Their meaning follows from their name and kind, for example that of `axis`.

use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::attr::{AttrKind, OPEN_END};
use mind_ir::opdef::{AttrDef, Op, OpDef};
use mind_ir::types::{Dim, TensorType};
use mind_rules::{AttrValue, LhsAttr};

use super::Chooser;
use crate::plan::{PlanOp, is_any};

impl Chooser<'_, '_> {
    /// Returns a value for each attribute of `op`; `None` if an attribute has no value that fits.
    pub(super) fn drawn_attrs(
        &mut self,
        op: &PlanOp<'_>,
        named: &[Option<AttrValue>],
        operands: &[TensorType],
        shapes: &[Vec<i64>],
    ) -> Option<Vec<AttrValue>> {
        let def = op.left.def;
        let whole = self.rng.chance(30);
        let mut drawn: Vec<AttrValue> = Vec::new();
        for (row, attr) in def.attrs.iter().zip(&op.left.attrs) {
            let settled = match attr {
                LhsAttr::Fixed(value) => Some((*value).clone()),
                LhsAttr::Named(number) => named[*number].clone(),
            };
            let value = match settled {
                Some(value) => value,
                None => {
                    let request = Request {
                        def,
                        result: op.result,
                        row,
                        before: &drawn,
                        named,
                        operands,
                        shapes,
                        whole,
                    };
                    self.attr(&request)?
                }
            };
            drawn.push(value);
        }
        Some(drawn)
    }

    fn attr(&mut self, request: &Request<'_>) -> Option<AttrValue> {
        let shape = request.subject().unwrap_or_else(|| self.base.clone());
        let shape = &shape;
        if let Some(extreme) = self.extreme(request, shape) {
            return Some(extreme);
        }
        if let Some(again) = self.again(request) {
            return Some(again);
        }
        Some(match request.row.kind {
            AttrKind::Bool => AttrValue::Bool(self.rng.chance(50)),
            AttrKind::Int => AttrValue::Int(self.int(request, shape)),
            AttrKind::Float => {
                let number: f64 = *self.rng.pick(&[0.0, 1.0, 0.5, 1e-5, -1.0]);
                AttrValue::Float(number.to_bits())
            }
            AttrKind::Ints => AttrValue::Ints(self.ints(request, shape).into()),
            AttrKind::Dims => AttrValue::Dims(self.dims(request, shape).into()),
            AttrKind::Pad => match self.rng.below(3) {
                0 => AttrValue::Valid,
                1 => AttrValue::Same,
                _ => AttrValue::Pads([0; 4].map(|_: i64| self.rng.within(0, 2))),
            },
            AttrKind::ElementType => AttrValue::DType(self.dtype_of(request.result)),
            AttrKind::Word(words) => AttrValue::Word(self.rng.pick::<&str>(words)),
            AttrKind::Str | AttrKind::LiteralData => AttrValue::of(request.row.default?)?,
        })
    }

    /// Returns, in 30 of 100 calls, a list that was chosen before for a named attribute of the same kind.
    fn again(&mut self, request: &Request<'_>) -> Option<AttrValue> {
        let like = |value: &&AttrValue| request.row.kind.admits(&value.as_attr());
        let list = matches!(request.row.kind, AttrKind::Ints | AttrKind::Dims);
        let list = list && !is_any(request.def, &[DotGeneral::DEF]);
        let known: Vec<&AttrValue> = request.named.iter().flatten().filter(like).collect();
        (list && !known.is_empty() && self.rng.chance(30)).then(|| (*self.rng.pick(&known)).clone())
    }

    fn int(&mut self, request: &Request<'_>, shape: &[i64]) -> i64 {
        let rank = shape.len() as i64;
        match request.row.name {
            "axis" => {
                let axis = match self.axis {
                    Some(axis) if axis < rank => axis,
                    _ => self.rng.within(0, (rank - 1).max(0)),
                };
                if self.rng.chance(20) {
                    axis - rank
                } else {
                    axis
                }
            }
            "count" => {
                // An extent of 0 can be split into any number of parts.
                let extent = match request.axis(shape).unwrap_or(1) {
                    0 => 6,
                    extent => extent,
                };
                let divisors: Vec<i64> = (1..=extent).filter(|d| extent % d == 0).collect();
                *self.rng.pick(&divisors)
            }
            "groups" => self.groups,
            "part" => {
                let count = request.before.iter().rev().find_map(int_of).unwrap_or(1);
                self.rng.within(0, (count - 1).max(0))
            }
            _ => self.rng.within(-1, 3),
        }
    }

    fn ints(&mut self, request: &Request<'_>, shape: &[i64]) -> Vec<i64> {
        if let Some(list) = self.window_list(request.def, request.row.name, shape) {
            return list;
        }
        let per_axis = |chooser: &mut Self, draw: fn(&mut Self, i64) -> i64| -> Vec<i64> {
            shape.iter().map(|&extent| draw(chooser, extent)).collect()
        };
        match request.row.name {
            "permutation" => self.permutation(shape.len()),
            "axes" => self.axes(request.def, shape),
            "starts" if request.whole => vec![0; shape.len()],
            "starts" => per_axis(self, |own, extent| match own.rng.below(20) {
                0 => own.rng.within(0, extent),
                1..9 => 0,
                _ => own.rng.within(0, (extent - 1).max(0)),
            }),
            "ends" if request.whole => shape.to_vec(),
            "ends" => self.ends(request, shape),
            "steps" if request.whole => vec![1; shape.len()],
            "steps" => per_axis(self, |own, _| match own.rng.chance(60) {
                true => 1,
                false => own.rng.within(1, 3),
            }),
            "lhs_batch" => self.pairs[0].clone(),
            "lhs_contract" => self.pairs[1].clone(),
            "rhs_batch" => self.pairs[2].clone(),
            "rhs_contract" => self.pairs[3].clone(),
            "indices" => per_axis(self, |own, extent| own.rng.within(0, extent - 1)),
            _ => {
                let length = self.rng.below(shape.len() + 1);
                (0..length).map(|_| self.rng.within(0, 2)).collect()
            }
        }
    }

    /// Returns the ends of slices, most of which are greater than the starts.
    fn ends(&mut self, request: &Request<'_>, shape: &[i64]) -> Vec<i64> {
        let starts = match request.before.first() {
            Some(AttrValue::Ints(starts)) => starts.to_vec(),
            _ => vec![0; shape.len()],
        };
        let pairs = shape.iter().zip(&starts);
        pairs
            .map(|(&extent, &start)| match self.rng.below(20) {
                0 => self.rng.within(0, extent),
                1..7 => OPEN_END,
                _ => self.rng.within(start.saturating_add(1).min(extent), extent),
            })
            .collect()
    }

    fn permutation(&mut self, rank: usize) -> Vec<i64> {
        let mut axes: Vec<i64> = (0..rank as i64).collect();
        match self.rng.below(10) {
            0 => axes.clear(),
            1..4 if rank >= 2 => axes.swap(rank - 1, rank - 2),
            _ => self.rng.shuffle(&mut axes),
        }
        axes
    }

    fn axes(&mut self, def: &'static OpDef, shape: &[i64]) -> Vec<i64> {
        let rank = shape.len() as i64;
        let mut axes: Vec<i64> = (0..rank).collect();
        self.rng.shuffle(&mut axes);
        if is_any(def, &[Squeeze::DEF]) {
            axes.retain(|&axis| shape[axis as usize] == 1);
        }
        if is_any(def, &[ExpandDims::DEF]) {
            let mut added: Vec<i64> = Vec::new();
            for _ in 0..self.rng.within(1, 2) {
                let axis = self.rng.within(0, rank);
                if !added.contains(&axis) {
                    added.push(axis);
                }
            }
            return added;
        }
        let kept = if self.rng.chance(15) {
            0
        } else {
            self.rng.within(1, axes.len().max(1) as i64) as usize
        };
        axes.truncate(kept);
        if self.rng.chance(60) {
            axes.sort_unstable();
        }
        if is_any(def, &[Sum::DEF, Mean::DEF, Max::DEF, Min::DEF, Prod::DEF]) && self.rng.chance(15)
        {
            axes.iter_mut().for_each(|axis| *axis -= rank);
        }
        axes
    }

    /// Returns a shape for an op that reshapes or broadcasts. Reshapes get as many elements as the operand has.
    fn dims(&mut self, request: &Request<'_>, shape: &[i64]) -> Vec<Dim> {
        let Some(operand) = request.operands.first().map(|ty| &ty.shape) else {
            return shape.iter().copied().map(Dim::Fixed).collect();
        };
        if is_any(request.def, &[BroadcastTo::DEF]) {
            return self.stretched(operand);
        }
        if self.symbol.is_some() && operand.iter().any(|dim| dim.fixed().is_none()) {
            // Symbolic dimensions are not split or merged, because their factors are not known.
            let mut dims: Vec<Dim> = operand.to_vec();
            match self.rng.below(3) {
                0 => dims.retain(|dim| *dim != Dim::Fixed(1)),
                1 => dims.insert(self.rng.below(operand.len() + 1), Dim::Fixed(1)),
                _ => dims.reverse(),
            }
            return dims;
        }
        let count: i64 = shape.iter().product();
        let mut extents: Vec<i64> = match self.rng.below(10) {
            0 | 1 => vec![count],
            2 => shape.to_vec(),
            3 | 4 => shape.iter().copied().rev().collect(),
            5 => shape.iter().copied().filter(|&extent| extent > 1).collect(),
            6 | 7 => self.keepdims_of_input(shape, count),
            _ => self.factors(count),
        };
        if self.rng.chance(15) {
            extents.insert(self.rng.below(extents.len() + 1), 1);
        }
        if self.rng.chance(10) && !extents.is_empty() {
            let at = self.rng.below(extents.len());
            extents[at] = -1;
        }
        extents.into_iter().map(Dim::Fixed).collect()
    }

    /// Returns the shape of an earlier leaf in which extents are replaced by 1, as by a reduction that keeps its axes,
    /// until it has `count` elements.
    fn keepdims_of_input(&mut self, shape: &[i64], count: i64) -> Vec<i64> {
        let inputs: Vec<Vec<i64>> = self.shapes.iter().flatten().cloned().collect();
        let mut from = if inputs.is_empty() {
            shape.to_vec()
        } else {
            self.rng.pick(&inputs).clone()
        };
        let mut order: Vec<usize> = (0..from.len()).collect();
        self.rng.shuffle(&mut order);
        for at in order {
            if from.iter().product::<i64>() == count {
                break;
            }
            from[at] = 1;
        }
        from
    }

    fn factors(&mut self, mut count: i64) -> Vec<i64> {
        let mut factors = Vec::new();
        for divisor in [2, 3, 5, 17] {
            if count % divisor == 0 && self.rng.chance(60) {
                factors.push(divisor);
                count /= divisor;
            }
        }
        factors.push(count);
        self.rng.shuffle(&mut factors);
        factors
    }
}

/// The context in which an attribute is drawn.
pub(super) struct Request<'a> {
    pub(super) def: &'static OpDef,
    /// The value that the op computes.
    pub(super) result: usize,
    pub(super) row: &'a AttrDef,
    /// The attributes of the op that precede this one.
    pub(super) before: &'a [AttrValue],
    named: &'a [Option<AttrValue>],
    pub(super) operands: &'a [TensorType],
    shapes: &'a [Vec<i64>],
    /// Whether slices take the whole operand.
    whole: bool,
}

impl Request<'_> {
    /// Returns the extents of the first operand, or those of a preceding attribute if the op has no operands.
    fn subject(&self) -> Option<Vec<i64>> {
        let written = self.before.iter().find_map(|value| match value {
            AttrValue::Dims(dims) if self.operands.is_empty() => {
                dims.iter().map(|dim| dim.fixed()).collect()
            }
            _ => None,
        });
        written.or_else(|| self.shapes.first().cloned())
    }

    /// Returns the extent along the axis that a preceding attribute names.
    pub(super) fn axis(&self, shape: &[i64]) -> Option<i64> {
        let axis = self.before.iter().find_map(int_of)?;
        let axis = if axis < 0 {
            axis + shape.len() as i64
        } else {
            axis
        };
        shape.get(usize::try_from(axis).ok()?).copied()
    }
}

pub(super) fn int_of(value: &AttrValue) -> Option<i64> {
    match value {
        AttrValue::Int(value) => Some(*value),
        _ => None,
    }
}
