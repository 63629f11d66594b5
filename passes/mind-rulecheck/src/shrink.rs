//! Shrinks a failing case while it still fails.

use mind_eqsat::RuleInstances;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::Dim;
use mind_rules::{AttrValue, RuleInstance};

use crate::evaluate::values;
use crate::format::{bits_of, from_bits};
use crate::instance::{Draw, Leaf, LeafKind, replay};
use crate::plan::Plan;
use crate::tally::{Failure, Tally};
use crate::trial::{Promise, Trial};
use crate::values::{MODES, Mode};
use mind_ir::random::Rng;

/// The maximum number of smaller cases that are tried.
const FUEL: usize = 600;

/// The elements of larger tensors are not simplified one by one.
const ONE_BY_ONE: usize = 64;

/// Returns the smallest case found that fails as `failure` does.
pub(crate) fn shrink<'r>(
    forms: &RuleInstances<'r>,
    form: RuleInstance<'r>,
    plan: &Plan<'r>,
    failure: &Failure,
) -> Failure {
    let mut shrinker = Shrinker {
        forms,
        form,
        plan,
        best: failure.clone(),
        fuel: FUEL,
    };
    shrinker.fix_symbol();
    shrinker.reduce_to_scalars();
    while shrinker.smaller_extents() || shrinker.fewer_along_an_axis() {}
    shrinker.simpler_values();
    shrinker.best
}

struct Shrinker<'s, 'r> {
    forms: &'s RuleInstances<'r>,
    form: RuleInstance<'r>,
    plan: &'s Plan<'r>,
    best: Failure,
    fuel: usize,
}

impl Shrinker<'_, '_> {
    /// Keeps this case and returns true if it fails, too.
    fn try_case(&mut self, draw: &Draw, values: &[Tensor], mode: Mode) -> bool {
        let trial = replay(self.plan, draw).map(|built| Trial::new(self.forms, self.form, built));
        trial.is_some_and(|trial| self.try_values(&trial, values, mode))
    }

    fn try_values(&mut self, trial: &Trial, values: &[Tensor], mode: Mode) -> bool {
        if self.fuel == 0 || values.len() != trial.instance.inputs.len() {
            return false;
        }
        self.fuel -= 1;
        for (_, right) in trial.acting() {
            let mut seen = Tally::default();
            let sides = trial.sides(right);
            trial.case(
                &sides,
                values.to_vec(),
                mode,
                &Promise::of(self.form),
                &mut seen,
            );
            if let Some(failure) = seen.failure {
                self.best = failure;
                return true;
            }
        }
        false
    }

    /// Replaces the symbol by its extent.
    fn fix_symbol(&mut self) {
        if self.best.draw.symbol.is_some() {
            let mut draw = self.best.draw.clone();
            draw.symbol = None;
            let (values, mode) = (self.best.values.clone(), self.best.mode);
            self.try_case(&draw, &values, mode);
        }
    }

    /// Keeps only the element that differs if all ops are elementwise.
    fn reduce_to_scalars(&mut self) {
        if !self.plan.elementwise {
            return;
        }
        let Failure {
            draw,
            values,
            at,
            mode,
            ..
        } = self.best.clone();
        let rank = draw
            .leaves
            .iter()
            .map(|leaf| leaf.shape.len())
            .max()
            .unwrap_or(0);
        let mut whole = vec![1i64; rank];
        for leaf in &draw.leaves {
            let missing = rank - leaf.shape.len();
            for (own, &extent) in whole[missing..].iter_mut().zip(&leaf.shape) {
                *own = (*own).max(extent);
            }
        }
        let element = |tensor: &Tensor| {
            let shape: Vec<i64> = tensor.shape().iter().map(|&extent| extent as i64).collect();
            let at = position(at, &whole, &shape);
            Tensor::new(Vec::new(), slice(tensor, &[at]))
        };
        let mut small = draw;
        for leaf in &mut small.leaves {
            leaf.shape.clear();
            if let LeafKind::Constant(tensor) = &leaf.kind {
                leaf.kind = LeafKind::Constant(element(tensor));
            }
        }
        let values: Vec<Tensor> = values.iter().map(element).collect();
        self.try_case(&small, &values, mode);
    }

    /// Reduces one extent; returns false if no extent can be reduced.
    fn smaller_extents(&mut self) -> bool {
        let draw = self.best.draw.clone();
        let mut extents: Vec<i64> = draw
            .leaves
            .iter()
            .flat_map(|leaf| leaf.shape.clone())
            .collect();
        extents.sort_unstable();
        extents.dedup();
        for &extent in extents.iter().rev().filter(|&&extent| extent > 1) {
            for smaller in [1, 2, 3, extent / 2, extent - 1] {
                if smaller < 1 || smaller >= extent {
                    continue;
                }
                if self.cut(&draw, extent, smaller) {
                    return true;
                }
            }
        }
        false
    }

    /// Tries the case with `smaller` instead of `extent` everywhere, first on the remaining elements, then on new ones.
    fn cut(&mut self, draw: &Draw, extent: i64, smaller: i64) -> bool {
        let mut small = draw.clone();
        for leaf in &mut small.leaves {
            crop(leaf, |shape| replace(shape, extent, smaller));
        }
        for attr in small.attrs.iter_mut().flatten() {
            *attr = with_extent(attr, extent, smaller);
        }
        self.try_shapes(&small)
    }

    /// Reduces the extent of every leaf along one axis to 1, because axes with the same extent may need different ones.
    fn fewer_along_an_axis(&mut self) -> bool {
        let draw = self.best.draw.clone();
        let ranks = draw.leaves.iter().map(|leaf| leaf.shape.len());
        (0..ranks.max().unwrap_or(0)).any(|axis| {
            let mut small = draw.clone();
            for leaf in &mut small.leaves {
                crop(leaf, |shape| {
                    let extents = shape.get_mut(axis).into_iter();
                    extents.for_each(|extent| *extent = (*extent).min(1));
                });
            }
            small != draw && self.try_shapes(&small)
        })
    }

    /// Tries the case with the shapes of `small`, first on the remaining elements, then on new ones.
    fn try_shapes(&mut self, small: &Draw) -> bool {
        let built = replay(self.plan, small);
        let Some(trial) = built.map(|built| Trial::new(self.forms, self.form, built)) else {
            return false;
        };
        let inputs = trial.instance.inputs.clone();
        let kept: Vec<Tensor> = inputs
            .iter()
            .zip(&self.best.values)
            .map(|(&(_, leaf), tensor)| cropped(tensor, tensor.shape(), &small.leaves[leaf].shape))
            .collect();
        let mode = self.best.mode;
        if self.try_values(&trial, &kept, mode) {
            return true;
        }
        let mut rng = Rng::of_words(1, &[self.form.name()]);
        (0..2 * MODES.len()).any(|at| {
            let mode = MODES[at % MODES.len()];
            let fresh = values(&trial.instance, &mut rng, mode);
            self.try_values(&trial, &fresh, mode)
        })
    }

    /// Replaces values by ones and zeros.
    fn simpler_values(&mut self) {
        let draw = self.best.draw.clone();
        let Some(trial) =
            replay(self.plan, &draw).map(|built| Trial::new(self.forms, self.form, built))
        else {
            return;
        };
        for input in 0..self.best.values.len() {
            let (dtype, count) = {
                let tensor = &self.best.values[input];
                (tensor.dtype(), tensor.count())
            };
            let simple = [bits_of(dtype, 1.0), 0];
            let whole = simple.map(|bits| from_bits(dtype, &vec![bits; count]));
            if whole
                .into_iter()
                .any(|buffer| self.with(&trial, input, buffer))
            {
                continue;
            }
            for at in (0..count).filter(|_| count <= ONE_BY_ONE) {
                for bits in simple {
                    let bytes = from_bits(dtype, &[bits]).to_bytes();
                    let mut all = self.best.values[input].buffer().to_bytes();
                    let place = at * bytes.len()..(at + 1) * bytes.len();
                    if all[place.clone()] == bytes[..] {
                        break;
                    }
                    all[place].copy_from_slice(&bytes);
                    if self.with(&trial, input, Buffer::from_bytes(dtype, &all)) {
                        break;
                    }
                }
            }
        }
    }

    fn with(&mut self, trial: &Trial, input: usize, buffer: Buffer) -> bool {
        let (mut values, mode) = (self.best.values.clone(), self.best.mode);
        values[input] = Tensor::new(values[input].shape().to_vec(), buffer);
        self.try_values(trial, &values, mode)
    }
}

/// Crops a leaf to the shape that `change` makes from its own.
fn crop(leaf: &mut Leaf, change: impl FnOnce(&mut [i64])) {
    let before: Vec<usize> = leaf.shape.iter().map(|&own| own as usize).collect();
    change(&mut leaf.shape);
    if let LeafKind::Constant(tensor) = &leaf.kind {
        leaf.kind = LeafKind::Constant(cropped(tensor, &before, &leaf.shape));
    }
}

fn replace(shape: &mut [i64], from: i64, to: i64) {
    shape
        .iter_mut()
        .filter(|own| **own == from)
        .for_each(|own| *own = to);
}

/// Returns a shape or bounds attribute in which the extent `from` is replaced by `to`.
fn with_extent(attr: &AttrValue, from: i64, to: i64) -> AttrValue {
    match attr {
        AttrValue::Dims(dims) => {
            let dim = |dim: &Dim| match *dim {
                Dim::Fixed(extent) if extent == from => Dim::Fixed(to),
                dim => dim,
            };
            AttrValue::Dims(dims.iter().map(dim).collect())
        }
        AttrValue::Ints(list)
            if list.iter().any(|&entry| entry >= to && entry <= from) && from > 4 =>
        {
            let cut = |&entry: &i64| {
                if entry > to && entry <= from {
                    to
                } else {
                    entry
                }
            };
            AttrValue::Ints(list.iter().map(cut).collect())
        }
        attr => attr.clone(),
    }
}

/// Returns the position in a tensor of `shape` that is broadcast to the element `flat` of the shape `whole`.
fn position(mut flat: usize, whole: &[i64], shape: &[i64]) -> usize {
    let missing = whole.len() - shape.len().min(whole.len());
    let (mut at, mut stride) = (0, 1);
    for dimension in (0..whole.len()).rev() {
        let extent = whole[dimension].max(1) as usize;
        let index = flat % extent;
        flat /= extent;
        if let Some(&own) = dimension
            .checked_sub(missing)
            .and_then(|own| shape.get(own))
        {
            at += if own == 1 { 0 } else { index * stride };
            stride *= own as usize;
        }
    }
    at
}

/// Returns the elements at these positions.
fn slice(tensor: &Tensor, positions: &[usize]) -> Buffer {
    let size = tensor.dtype().size();
    let bytes = tensor.buffer().to_bytes();
    let picked = positions
        .iter()
        .flat_map(|&at| &bytes[at * size..(at + 1) * size]);
    Buffer::from_bytes(tensor.dtype(), &picked.copied().collect::<Vec<u8>>())
}

/// Returns the elements of a tensor of shape `before` whose indices are less than `after`.
fn cropped(tensor: &Tensor, before: &[usize], after: &[i64]) -> Tensor {
    let shape: Vec<usize> = after.iter().map(|&extent| extent as usize).collect();
    let count: usize = shape.iter().product();
    let strides = mind_ir::tensor::row_major(before);
    let mut index = vec![0; shape.len()];
    let mut positions = Vec::with_capacity(count);
    for _ in 0..count {
        let flat = index.iter().zip(&strides).map(|(at, stride)| at * stride);
        positions.push(flat.sum());
        mind_ir::tensor::advance(&mut index, &shape);
    }
    Tensor::new(shape, slice(tensor, &positions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crop_keeps_the_first_elements_of_each_axis() {
        let tensor = Tensor::of(vec![2, 3], vec![1i32, 2, 3, 4, 5, 6]);
        let kept = cropped(&tensor, &[2, 3], &[2, 2]);
        assert_eq!(kept.elements::<i32>(), [1, 2, 4, 5]);
    }

    #[test]
    fn broadcast_positions_are_found() {
        assert_eq!(position(5, &[2, 3], &[3]), 2);
        assert_eq!(position(5, &[2, 3], &[2, 1]), 1);
        assert_eq!(position(5, &[2, 3], &[]), 0);
    }
}
