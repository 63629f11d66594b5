//! Positions of one dimension that are worked on together, so that each tap of a filter is read once for all of them.

use mind_vir::ir::Lane;

use super::phase::{Phase, phases};
use super::{Slide, VECTORS};
use crate::lower::{compute_lane, storage_lane};

/// How many results are worked on together.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The dimension, if several of its positions are.
    pub axis: Option<usize>,
    /// How many positions of it.
    pub rows: u32,
    /// How many vectors of each.
    pub vectors: u32,
}

/// Bytes of a vector of which there are 32 registers.
const WIDE: u32 = 64;

/// Vectors of one position beside others.
const VECTORS_OF_ROW: usize = 4;

impl Block {
    /// What is worked on together on vectors of `lanes` lanes.
    pub fn of(s: &Slide, lanes: u32) -> Block {
        let alone = Block {
            axis: None,
            rows: 1,
            vectors: VECTORS,
        };
        let Some(vector) = s.vector else { return alone };
        // Half of the registers are left for taps, elements and constants.
        let sums = match lanes * compute_lane(s.dtype).bytes() {
            WIDE => 16,
            _ => 8,
        };
        let whole = s.axes[vector].slide.positions / lanes as usize;
        let vectors = 1 << whole.clamp(1, VECTORS_OF_ROW).ilog2();
        let rows = sums / vectors;
        let shares_filter = |&axis: &usize| {
            let own = &s.axes[axis];
            axis != vector && own.slide.positions > 1 && own.place == 0
        };
        let axis = (0..s.axes.len()).rev().find(shares_filter);
        match axis.filter(|&axis| s.kind.reduction().is_none() && fits(s, axis, rows)) {
            Some(axis) => Block {
                axis: Some(axis),
                rows,
                vectors,
            },
            None => alone,
        }
    }
}

/// Whether `rows` positions of a dimension lie inside of it, and so close that offsets hold the distances.
fn fits(s: &Slide, axis: usize, rows: u32) -> bool {
    let phases = phases(&s.axes[axis].slide, s.is_padded());
    let mut all = phases.iter();
    all.all(|phase| {
        let (from, to) = phase.interior(s.axes[axis].slide.extent);
        let Rows { input, output, .. } = Rows::along(s, axis, phase, rows);
        let reach = input.abs().max(output.abs()).saturating_mul(rows.into());
        let bytes = reach.saturating_mul(storage_lane(s.dtype).bytes().into());
        to - from >= rows as usize && bytes < i64::from(i32::MAX) / 2
    })
}

/// Positions of a dimension, side by side.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// How many.
    pub count: u32,
    /// Elements of the input from one to the next.
    input: i64,
    /// Elements of the result from one to the next.
    output: i64,
}

impl Rows {
    /// An only position.
    pub const ONE: Rows = Rows {
        count: 1,
        input: 0,
        output: 0,
    };

    /// Positions of a phase.
    pub fn along(s: &Slide, axis: usize, phase: &Phase, count: u32) -> Rows {
        let own = &s.axes[axis];
        Rows {
            count,
            input: phase.stride * own.input,
            output: phase.step as i64 * own.output,
        }
    }

    /// Bytes from the elements under the first window to those under window `row`.
    pub fn input(&self, row: u32, lane: Lane) -> i32 {
        (i64::from(row * lane.bytes()) * self.input) as i32
    }

    /// Bytes from the first result to result `row`.
    pub fn output(&self, row: u32, lane: Lane) -> i32 {
        (i64::from(row * lane.bytes()) * self.output) as i32
    }
}
