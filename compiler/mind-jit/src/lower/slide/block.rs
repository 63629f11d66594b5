//! Positions of one dimension that are worked on together, so that each tap of a filter is read once for all of them.

use mind_vir::ir::{Builder, Lane, Value};

use super::phase::{Phase, phases};
use super::{Axis, Slide, VECTORS};
use crate::lower::each::{covering, vectors_of_round};
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
    /// How many vectors of a position outside of such a group.
    rare: u32,
}

/// Bytes of a vector of which there are 32 registers.
const WIDE: u32 = 64;

/// Vectors of one position beside others.
const VECTORS_OF_ROW: usize = 4;

/// From this many multiply-adds in all, positions outside of groups are computed several vectors at a time, which is faster but
/// takes longer to compile.
const MUCH: usize = 1 << 21;

/// The time of a vector of several positions, relative to the overhead of a round.
const MANY: usize = 8;

impl Block {
    /// What is worked on together on vectors of `lanes` lanes.
    pub fn of(s: &Slide, lanes: u32) -> Block {
        let alone = Block {
            axis: None,
            rows: 1,
            vectors: VECTORS,
            rare: VECTORS,
        };
        let Some(vector) = s.vector else { return alone };
        // Registers are left for taps, elements and constants.
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

    /// Appends loops over the places `from..to` of the positions of `rows`. `body` is given the first place, the number of
    /// vectors, and the number of places if they do not fill a vector.
    pub fn in_vectors(
        self,
        b: &mut Builder,
        (from, to): (usize, usize),
        rows: Rows,
        body: impl Fn(&mut Builder, Value, u32, Option<Value>),
    ) {
        let (places, lanes) = (to - from, b.lanes() as usize);
        if places == 0 {
            return;
        }
        // Positions outside of groups are few.
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

/// The number of terms of all chains.
fn terms(s: &Slide) -> usize {
    let of_axis = |axis: &Axis| axis.slide.positions.saturating_mul(axis.slide.window);
    s.axes.iter().map(of_axis).fold(1, usize::saturating_mul)
}

/// The positions of a dimension, `vectors` vectors each, that are best worked on together where registers hold `most`
/// sums; `None` if there are too few for that.
///
/// Positions left over are worked on one by one, which takes almost as long for each as for a few together.
fn best_rows(s: &Slide, axis: usize, vectors: u32, most: u32) -> Option<u32> {
    /// Sums that go on side by side while one waits for its addition.
    const LATENCY: usize = 8;
    let own = &s.axes[axis].slide;
    let phases = phases(own, s.is_padded());
    let vectors = vectors as usize;
    // A tap of the filter is loaded once for all positions.
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

#[cfg(test)]
mod tests {
    use mind_core::eval::sliding::SlideAxis;
    use mind_core::slide::SlideKind;
    use mind_ir::types::DType;

    use super::super::Axis;
    use super::*;

    /// A filter of three taps over a line of `extent` places with 16 results each, and a place of padding at both ends.
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
