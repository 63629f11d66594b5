//! Random shapes for ops whose operands are indices, and for the values that they write.

use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::pad::PadOp;
use mind_core::ops::scatter::{ScatterElements, ScatterNd};
use mind_ir::opdef::Op;

use super::{Chooser, EXTENTS};
use crate::plan::{PlanOp, is_any};

impl Chooser<'_, '_> {
    /// Returns a shape for every operand of an op that reads or writes at indices, or that pads its operand with a
    /// value; `None` for other ops.
    pub(super) fn indexed(
        &mut self,
        op: &PlanOp<'_>,
        known: &[Option<Vec<i64>>],
    ) -> Option<Vec<Vec<i64>>> {
        let def = op.left.def;
        let data = known.first().cloned().flatten();
        let mut data = data.unwrap_or_else(|| self.base.clone());
        if is_any(def, &[PadOp::DEF]) {
            return Some(vec![data, Vec::new()]);
        }
        let starts = |first: usize| op.operands.len().saturating_sub(first);
        let windows = [
            (DynamicSlice::DEF, starts(1)),
            (DynamicUpdateSlice::DEF, starts(2)),
        ];
        for (window, rank) in windows {
            if is_any(def, &[window]) {
                data.resize_with(rank, || *self.rng.pick(&EXTENTS));
                let scalars = std::iter::repeat_n(Vec::new(), rank);
                let update = is_any(def, &[DynamicUpdateSlice::DEF]).then(|| self.part_of(&data));
                return Some(std::iter::once(data).chain(update).chain(scalars).collect());
            }
        }
        let tuples = is_any(def, &[GatherNd::DEF, ScatterNd::DEF]);
        let places = is_any(def, &[GatherElements::DEF, ScatterElements::DEF]);
        if data.is_empty() && (tuples || places) {
            data.push(*self.rng.pick(&EXTENTS));
        }
        if places {
            let places = self.part_of(&data);
            return Some(vec![data, places.clone(), places]);
        }
        if tuples {
            let width = 1 + self.rng.below(data.len());
            let count = *self.rng.pick(&EXTENTS);
            let updates = [&[count], &data[width..]].concat();
            return Some(vec![data, vec![count, width as i64], updates]);
        }
        None
    }

    /// Returns `shape`, or in half of the calls random extents from 1 to those of `shape`.
    fn part_of(&mut self, shape: &[i64]) -> Vec<i64> {
        if self.rng.chance(50) {
            return shape.to_vec();
        }
        let part = |&extent: &i64| self.rng.within(1, extent.max(1));
        shape.iter().map(part).collect()
    }
}
