//! Blocks of positions that are computed together, so that each filter tap is loaded once for all of them.

use mind_vir::ir::{Builder, Lane, Value};

use super::phase::{Phase, phases};
use super::{Axis, Slide, VECTORS};
use crate::lower::each::{covering, vectors_of_round};
use crate::lower::{compute_lane, storage_lane};

/// The number of results that are computed together.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The blocked dimension, if there is one.
    pub axis: Option<usize>,
    /// Positions along it.
    pub rows: u32,
    /// Vectors of each position.
    pub vectors: u32,
    /// Vectors of a position outside of a block.
    rare: u32,
}

/// Size of a vector on targets with 32 vector registers.
const WIDE: u32 = 64;

/// Vectors of one position within a block.
const VECTORS_OF_ROW: usize = 4;

/// Number of multiply-adds from which positions outside of blocks are computed several vectors at a time, because that
/// is faster but takes longer to compile.
const MUCH: usize = 1 << 21;

/// The cost of a vector of several positions, relative to the loop overhead.
const MANY: usize = 8;

impl Block {
    /// Chooses the block for vectors of `lanes` lanes.
    pub fn of(s: &Slide, lanes: u32) -> Block {
        let alone = Block {
            axis: None,
            rows: 1,
            vectors: VECTORS,
            rare: VECTORS,
        };
        let Some(vector) = s.vector else { return alone };
        // The remaining registers hold taps, elements and constants.
        let most = match lanes * compute_lane(s.dtype).bytes() {
            WIDE => 24,
            _ => 8,
        };
        let places = s.axes[vector].slide.positions;
        let vectors = vectors_of_round(places, lanes as usize, VECTORS_OF_ROW, MANY).max(1) as u32;
        let shares_filter = |&axis: &usize| {
            let own = &s.axes[axis];
            axis != vector && own.slide.positions > 1 && own.place == 0
        };
        let axis = (0..s.axes.len()).rev().find(shares_filter);
        let axis = axis.filter(|_| s.kind.reduction().is_none());
        let best = axis.and_then(|axis| Some((axis, best_rows(s, axis, vectors, most)?)));
        match best {
            Some((axis, rows)) => Block {
                axis: Some(axis),
                rows,
                vectors,
                rare: if terms(s) < MUCH { 1 } else { vectors },
            },
            None => alone,
        }
    }

    /// Appends loops over `from..to` along the vectorised dimension for the positions of `rows`. `body` gets the first
    /// element, the number of vectors, and the number of elements if they do not fill a vector.
    pub fn in_vectors(
        self,
        b: &mut Builder,
        (from, to): (usize, usize),
        rows: PositionRun,
        body: impl Fn(&mut Builder, Value, u32, Option<Value>),
    ) {
        let (places, lanes) = (to - from, b.lanes() as usize);
        if places == 0 {
            return;
        }
        // Positions outside of blocks are few.
        let is_rare = self.axis.is_some() && rows.count == 1;
        let most = if is_rare { self.rare } else { self.vectors };
        let weight = if rows.count > 1 { MANY } else { 1 };
        let vectors = vectors_of_round(places, lanes, most as usize, weight);
        if vectors == 0 {
            let (start, count) = (b.index(from as i64), b.index(places as i64));
            return body(b, start, 1, Some(count));
        }
        covering(b, (from, to), vectors * lanes, |b, first| {
            body(b, first, vectors as u32, None);
        });
    }
}

/// Returns the number of terms of all chains.
fn terms(s: &Slide) -> usize {
    let of_axis = |axis: &Axis| axis.slide.positions.saturating_mul(axis.slide.window);
    s.axes.iter().map(of_axis).fold(1, usize::saturating_mul)
}

/// Returns the best number of positions per block along a dimension, with `vectors` vectors each, if registers hold
/// `most` accumulators; `None` if there are too few positions.
///
/// Remaining positions are computed one by one, each of which takes almost as long as a block of a few.
fn best_rows(s: &Slide, axis: usize, vectors: u32, most: u32) -> Option<u32> {
    /// Independent chains that hide the latency of an addition.
    const LATENCY: usize = 8;
    let own = &s.axes[axis].slide;
    let phases = phases(own, s.is_padded());
    let vectors = vectors as usize;
    // A filter tap is loaded once for all positions.
    let tap = |rows: usize| (rows * vectors).max(LATENCY) + vectors;
    let cost = |rows: u32| {
        let rows = rows as usize;
        let costs = phases.iter().map(|phase| {
            let (from, to) = phase.interior(own.extent);
            let count = to - from;
            count / rows * tap(rows) + count % rows * tap(1)
        });
        costs.fold(0, usize::saturating_add)
    };
    let most = most / vectors as u32;
    let rows = (most / 3).max(2)..=most;
    let fitting = rows.rev().filter(|&rows| fits(s, axis, rows));
    fitting.min_by_key(|&rows| cost(rows))
}

/// Returns whether a dimension has `rows` interior positions, whose distances fit address offsets.
fn fits(s: &Slide, axis: usize, rows: u32) -> bool {
    let phases = phases(&s.axes[axis].slide, s.is_padded());
    let mut all = phases.iter();
    all.all(|phase| {
        let (from, to) = phase.interior(s.axes[axis].slide.extent);
        let PositionRun { input, output, .. } = PositionRun::of_phase(s, axis, phase, rows);
        let reach = input.abs().max(output.abs()).saturating_mul(rows.into());
        let bytes = reach.saturating_mul(storage_lane(s.dtype).bytes().into());
        to - from >= rows as usize && bytes < i64::from(i32::MAX) / 2
    })
}

/// Adjacent positions along a dimension.
#[derive(Clone, Copy)]
pub(super) struct PositionRun {
    /// Their number.
    pub count: u32,
    /// Stride in the input, in elements.
    input: i64,
    /// Stride in the result, in elements.
    output: i64,
}

impl PositionRun {
    /// A single position.
    pub const ONE: PositionRun = PositionRun {
        count: 1,
        input: 0,
        output: 0,
    };

    /// Returns adjacent positions of a phase.
    pub fn of_phase(s: &Slide, axis: usize, phase: &Phase, count: u32) -> PositionRun {
        let own = &s.axes[axis];
        PositionRun {
            count,
            input: phase.stride * own.input,
            output: phase.step as i64 * own.output,
        }
    }

    /// Returns the offset in bytes of the elements under window `row` from those under the first.
    pub fn input(&self, row: u32, lane: Lane) -> i32 {
        (i64::from(row * lane.bytes()) * self.input) as i32
    }

    /// Returns the offset in bytes of result `row` from the first.
    pub fn output(&self, row: u32, lane: Lane) -> i32 {
        (i64::from(row * lane.bytes()) * self.output) as i32
    }
}

#[cfg(test)]
mod tests {
    use mind_core::eval::sliding::SlideAxis;
    use mind_core::slide::SlideKind;
    use mind_ir::types::DType;

    use super::super::Axis;
    use super::*;

    /// A filter of three taps over a line of `extent` positions with 16 results each and a padding of 1.
    fn line(extent: usize) -> Slide {
        let window = SlideAxis {
            extent,
            positions: extent,
            window: 3,
            stride: 1,
            dilation: 1,
            low: 1,
            base: 1,
        };
        let axis = |slide: SlideAxis, [input, tap, place, output]: [i64; 4]| Axis {
            slide,
            input,
            tap,
            place,
            output,
        };
        Slide {
            dtype: DType::F32,
            kind: SlideKind::Multiply,
            axes: vec![
                axis(window, [1, 16, 0, 16]),
                axis(SlideAxis::fixed(16), [0, 0, 1, 1]),
            ],
            offsets: [0, 0],
            vector: Some(1),
            shared: None,
        }
    }

    #[test]
    fn positions_inside_are_divided_without_a_rest_where_they_can_be() {
        let rows = |extent: usize, most: u32| best_rows(&line(extent), 0, 1, most);
        assert_eq!(rows(56, 24), Some(18));
        assert_eq!(rows(56, 8), Some(6));
        assert_eq!(rows(16, 24), Some(14));
        assert_eq!(rows(5, 24), None);
    }
}
