//! Random shapes for `core.dot_general`, and for quantisation.

use super::Chooser;
use crate::strata::{ScaleForm, Stratum};

/// The role of a dimension of the operand that is drawn first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DimRole {
    Batch,
    Free,
    Contracted,
}

impl Chooser<'_, '_> {
    /// Returns the operands of a general product and stores its batch and contracted dimensions in `pairs`. About 60 %
    /// are stacks of matrices.
    pub(super) fn paired(&mut self, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let is_left = known[0].is_some() || known[1].is_none();
        let given = known[usize::from(!is_left)].clone();
        let mut given = given.unwrap_or_else(|| self.base.clone());
        if given.is_empty() {
            given.push(self.any_extent());
        }
        let is_stack = self.rng.chance(60) && given.len() > 1;
        let roles = if is_stack {
            let mut roles = vec![DimRole::Batch; given.len()];
            let end = roles.len() - 2;
            roles[end..].copy_from_slice(&if is_left {
                [DimRole::Free, DimRole::Contracted]
            } else {
                [DimRole::Contracted, DimRole::Free]
            });
            roles
        } else {
            let mut roles: Vec<DimRole> = (0..given.len())
                .map(|_| {
                    let all = [DimRole::Batch, DimRole::Contracted, DimRole::Contracted];
                    *self.rng.pick(&all)
                })
                .collect();
            if self.rng.chance(70) {
                let at = self.rng.below(roles.len());
                roles[at] = DimRole::Free;
            }
            roles
        };
        // Each dimension of the other operand is the index of the dimension that it is paired with, if any, and its
        // extent.
        let listed = |role: DimRole| -> Vec<usize> {
            (0..given.len()).filter(|&at| roles[at] == role).collect()
        };
        let (batch, contracted) = (listed(DimRole::Batch), listed(DimRole::Contracted));
        let paired = |axes: &[usize]| -> Vec<(Option<usize>, i64)> {
            axes.iter().map(|&at| (Some(at), given[at])).collect()
        };
        let mut other = paired(&batch);
        let free = (None, self.any_extent());
        if is_left {
            other.extend(paired(&contracted));
            other.push(free);
        } else {
            other.push(free);
            other.extend(paired(&contracted));
        }
        if !is_stack {
            if self.rng.chance(30) {
                other.retain(|(from, _)| from.is_some());
            }
            self.rng.shuffle(&mut other);
        }
        let place = |axes: &[usize]| -> Vec<i64> {
            let own = |at: &usize| other.iter().position(|(from, _)| *from == Some(*at));
            axes.iter().filter_map(own).map(|at| at as i64).collect()
        };
        let wide = |axes: &[usize]| -> Vec<i64> { axes.iter().map(|&at| at as i64).collect() };
        let lists = [wide(&batch), wide(&contracted)];
        let others = [place(&batch), place(&contracted)];
        let other: Vec<i64> = other.iter().map(|&(_, extent)| extent).collect();
        let ([lb, lc], [rb, rc]) = if is_left {
            (lists, others)
        } else {
            (others, lists)
        };
        self.pairs = [lb, lc, rb, rc];
        if is_left {
            vec![given, other]
        } else {
            vec![other, given]
        }
    }

    /// Returns the shapes of a tensor and of its scales and zero points, which are per tensor, per axis or per block.
    pub(super) fn scaled(&mut self, known: &[Option<Vec<i64>>]) -> Vec<Vec<i64>> {
        let input = known[0].clone().unwrap_or_else(|| self.base.clone());
        let form = match self.stratum {
            Some(Stratum::Scale(form)) => form,
            _ if self.rng.chance(50) => ScaleForm::Tensor,
            _ if input.len() > 1 && self.rng.chance(50) => ScaleForm::Axis,
            _ => ScaleForm::Block,
        };
        let drawn: Vec<i64> = if form == ScaleForm::Tensor {
            Vec::new()
        } else if form == ScaleForm::Axis && !input.is_empty() {
            let axis = self.rng.below(input.len());
            self.axis = Some(axis as i64);
            vec![input[axis]]
        } else {
            let blocks = |&extent: &i64| if self.rng.chance(50) { 1 } else { extent };
            input.iter().map(blocks).collect()
        };
        let mut shapes = vec![input];
        let given = known[1..].iter().flatten().next().cloned();
        let scale = given.unwrap_or(drawn);
        shapes.resize(known.len(), scale);
        shapes
    }
}
