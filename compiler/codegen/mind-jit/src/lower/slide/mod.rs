//! Sliding windows: one chain over taps per position, vectorised over positions.
//!
//! Positions are loops. In the interior, where all taps are in bounds, short windows are unrolled; at the edges, loops
//! run over the taps in bounds.

mod block;
mod phase;
mod ranges;
mod taps;

use mind_core::eval::sliding::SlideAxis;
use mind_core::slide::{SlideKind, divisor_dtype};
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::types::DType;

use crate::lower::{apply, compute_lane, identity, narrow, storage_lane, store};
use mind_vir::ir::{Addr, BinaryOp, Builder, IndexOp, Value};

use block::{Block, PositionRun};
use phase::{Phase, phases};
use taps::{Lanes, Taps};

/// One dimension of the windows, with its strides in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Axis {
    /// The sliding of the windows.
    pub slide: SlideAxis,
    /// Input stride.
    pub input: i64,
    /// Stride of the filter taps.
    pub tap: i64,
    /// Stride of positions in the second operand.
    pub place: i64,
    /// Result stride.
    pub output: i64,
}

/// Windows that slide over a tensor.
///
/// `base` is 1 except for [`SlideKind::MultiplyInside`], and there are at most [`MOST_PHASES`] phases. Only the input
/// and the filter may be empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Slide {
    /// Type of the input and the result.
    pub dtype: DType,
    /// The operation on the elements.
    pub kind: SlideKind,
    /// The dimensions.
    pub axes: Vec<Axis>,
    /// Offsets of the input and of the second operand.
    pub offsets: [i64; 2],
    /// The vectorised dimension; `None` without dimensions.
    pub vector: Option<usize>,
    /// The dimension that is divided into ranges.
    pub shared: Option<usize>,
}

/// Maximum number of phases, because code is generated for each.
pub const MOST_PHASES: usize = 64;

/// Vectors of results that are computed together at one position of the outer dimensions.
const VECTORS: u32 = 8;

impl Slide {
    /// Returns the number of phases: code is generated for each.
    pub fn phases(&self) -> usize {
        let counts = self.axes.iter().map(|axis| phase::count(&axis.slide));
        counts.fold(1, usize::saturating_mul)
    }

    /// Returns the extent of the range: positions of the shared dimension, or groups with one position of each phase.
    pub fn extent(&self) -> usize {
        let shared = self.shared.map(|axis| &self.axes[axis].slide);
        shared.map_or(1, |axis| {
            phases(axis, self.is_padded())
                .iter()
                .map(|phase| phase.count)
                .max()
                .unwrap_or(0)
        })
    }

    fn is_padded(&self) -> bool {
        self.kind == SlideKind::Multiply
    }

    /// Returns the type of the second operand.
    fn other_dtype(&self) -> DType {
        match self.kind.reduction() {
            Some(_) => divisor_dtype(self.dtype),
            None => self.dtype,
        }
    }

    /// Returns the non-vectorised dimension whose edges have separate code: the last one with taps out of bounds.
    fn parted(&self) -> Option<usize> {
        let has_edge = |axis: &Axis| {
            let phases = phases(&axis.slide, self.is_padded());
            phases
                .iter()
                .any(|phase| phase.interior(axis.slide.extent) != (0, phase.count))
        };
        let outside = |&at: &usize| Some(at) != self.vector;
        (0..self.axes.len())
            .rev()
            .filter(outside)
            .find(|&at| has_edge(&self.axes[at]))
    }
}

/// The pointers for a position.
#[derive(Clone, Copy)]
struct Pointers {
    input: Value,
    /// The second operand, if it exists.
    other: Option<Value>,
    output: Value,
    /// The block of positions that begins here.
    rows: PositionRun,
}

/// The windows of a position along one dimension.
#[derive(Clone, Copy)]
struct TapOrigin {
    phase: Phase,
    /// The element index under the first tap, if taps may be out of bounds; otherwise the input pointer is already
    /// advanced.
    origin: Option<Value>,
}

/// Appends the windows at the positions of `range` along the shared dimension, and at all positions of the others.
/// `pointers` are the input, the second operand if the kind has one, and the result.
pub fn slide(b: &mut Builder, s: &Slide, pointers: &[Value], range: (Value, Value)) {
    let &[input, ref others @ .., output] = pointers else {
        panic!("windows have an input and a result");
    };
    let first = |b: &mut Builder, pointer: Value, dtype: DType, offset: i64| {
        let offset = b.index(offset);
        moved(b, pointer, dtype, offset, 1)
    };
    let pointers = Pointers {
        input: first(b, input, s.dtype, s.offsets[0]),
        other: others
            .first()
            .map(|&other| first(b, other, s.other_dtype(), s.offsets[1])),
        output,
        rows: PositionRun::ONE,
    };
    let positions = Positions {
        s,
        range,
        parted: s.parted(),
        block: Block::of(s, b.lanes()),
    };
    let places = vec![None; s.axes.len()];
    positions.outer(b, 0, pointers, places);
}

/// Returns the address of element `index * stride` of the array of `dtype` at `base`.
fn moved(b: &mut Builder, base: Value, dtype: DType, index: Value, stride: i64) -> Value {
    let stride = b.index(stride);
    let index = b.index_op(IndexOp::Mul, index, stride);
    if b.index_constant(index) == Some(0) {
        return base;
    }
    b.address(Addr::element(base, index, storage_lane(dtype)))
}

/// The loops over positions.
struct Positions<'a> {
    s: &'a Slide,
    range: (Value, Value),
    parted: Option<usize>,
    block: Block,
}

impl Positions<'_> {
    /// Appends loops over the dimensions from `axis`, except the vectorised one, which is innermost.
    fn outer(
        &self,
        b: &mut Builder,
        axis: usize,
        pointers: Pointers,
        places: Vec<Option<TapOrigin>>,
    ) {
        if axis == self.s.axes.len() {
            return self.vectors(b, pointers, places);
        }
        if Some(axis) == self.s.vector {
            return self.outer(b, axis + 1, pointers, places);
        }
        let extent = self.s.axes[axis].slide.extent;
        for phase in phases(&self.s.axes[axis].slide, self.s.is_padded()) {
            let (from, to) = phase.interior(extent);
            let is_whole = (from, to) == (0, phase.count);
            let at = |b: &mut Builder, position: Value, is_inside: bool, rows: u32| {
                let (mut pointers, place) = self.at(b, axis, &phase, position, is_inside, pointers);
                if rows > 1 {
                    pointers.rows = PositionRun::of_phase(self.s, axis, &phase, rows);
                }
                let mut places = places.clone();
                places[axis] = Some(place);
                self.outer(b, axis + 1, pointers, places);
            };
            let rows = |is_inside: bool| match self.block.axis == Some(axis) && is_inside {
                true => self.block.rows,
                false => 1,
            };
            if is_whole || Some(axis) != self.parted {
                self.part(
                    b,
                    axis,
                    (0, phase.count),
                    rows(is_whole),
                    |b, position, rows| {
                        at(b, position, is_whole, rows);
                    },
                );
                continue;
            }
            self.part(b, axis, (from, to), rows(true), |b, position, rows| {
                at(b, position, true, rows);
            });
            self.edges(b, axis, (from, to), phase.count, |b, position| {
                at(b, position, false, 1);
            });
        }
    }

    /// Returns the pointers and windows at position `u` of a phase.
    fn at(
        &self,
        b: &mut Builder,
        axis: usize,
        phase: &Phase,
        u: Value,
        is_inside: bool,
        pointers: Pointers,
    ) -> (Pointers, TapOrigin) {
        let (s, own) = (self.s, &self.s.axes[axis]);
        let (stride, start) = (b.index(phase.stride), b.index(phase.start));
        let element = b.index_op(IndexOp::Mul, u, stride);
        let element = b.index_op(IndexOp::Add, element, start);
        let (step, first) = (b.index(phase.step as i64), b.index(phase.first as i64));
        let position = b.index_op(IndexOp::Mul, u, step);
        let position = b.index_op(IndexOp::Add, position, first);
        let is_read = is_inside && phase.taps > 0;
        let other = pointers.other.map(|other| {
            let tap = b.index(phase.tap as i64 * own.tap);
            let other = moved(b, other, s.other_dtype(), tap, 1);
            moved(b, other, s.other_dtype(), position, own.place)
        });
        let at = Pointers {
            input: if is_read {
                moved(b, pointers.input, s.dtype, element, own.input)
            } else {
                pointers.input
            },
            other,
            rows: pointers.rows,
            output: moved(b, pointers.output, s.dtype, position, own.output),
        };
        let place = TapOrigin {
            phase: *phase,
            origin: (!is_inside).then_some(element),
        };
        (at, place)
    }

    /// Appends the positions along the vectorised dimension: one at a time at the edges, vectors in the interior.
    fn vectors(&self, b: &mut Builder, pointers: Pointers, places: Vec<Option<TapOrigin>>) {
        let Some(axis) = self.s.vector else {
            return self.chains(b, pointers, places, Lanes::One);
        };
        let own = self.s.axes[axis];
        for phase in phases(&own.slide, self.s.is_padded()) {
            let is_dense = phase.step as i64 * own.output == 1 || phase.count == 1;
            let (from, to) = match phase.interior(own.slide.extent) {
                range if is_dense => range,
                _ => (0, 0),
            };
            if (from, to) != (0, phase.count) {
                self.edges(b, axis, (from, to), phase.count, |b, u| {
                    let (pointers, place) = self.at(b, axis, &phase, u, false, pointers);
                    let mut places = places.clone();
                    places[axis] = Some(place);
                    self.chains(b, pointers, places, Lanes::One);
                });
            }
            let many = |b: &mut Builder, u: Value, vectors: u32, count: Option<Value>| {
                let (pointers, place) = self.at(b, axis, &phase, u, true, pointers);
                let mut places = places.clone();
                places[axis] = Some(place);
                let lanes = Lanes::Many {
                    vectors,
                    count,
                    input: phase.stride * own.input,
                    other: phase.step as i64 * own.place,
                };
                self.chains(b, pointers, places, lanes);
            };
            self.block.in_vectors(b, (from, to), pointers.rows, many);
        }
    }

    /// Appends the chains at one position, or at a vector of positions, and stores their results.
    fn chains(
        &self,
        b: &mut Builder,
        pointers: Pointers,
        places: Vec<Option<TapOrigin>>,
        lanes: Lanes,
    ) {
        let s = self.s;
        let places: Vec<TapOrigin> = places.into_iter().flatten().collect();
        let start = match s.kind.reduction() {
            Some(kind) => identity(b, kind, s.dtype),
            None => b.constant(compute_lane(s.dtype), 0),
        };
        let taps = Taps {
            s,
            places: &places,
            lanes,
            rows: pointers.rows,
        };
        let rows = pointers.rows;
        let sums = vec![start; (rows.count * lanes.vectors()) as usize];
        let sums = if places.iter().any(|place| place.phase.taps == 0) {
            sums
        } else {
            taps.chains(b, &pointers, sums)
        };
        for (at, sum) in (0..).zip(sums) {
            let (row, vector) = (at / lanes.vectors(), at % lanes.vectors());
            let result = self.finish(b, &pointers, lanes, vector, sum);
            let lane = storage_lane(s.dtype);
            let to = Addr::at(pointers.output).plus(rows.output(row, lane));
            if let Lanes::One = lanes {
                let result = narrow(b, s.dtype, result);
                b.store_first(result, to);
                continue;
            }
            let ahead = vector * b.lanes() * lane.bytes();
            store(b, s.dtype, result, to.plus(ahead as i32), lanes.count());
        }
    }

    /// Returns the result of a chain, before rounding.
    fn finish(
        &self,
        b: &mut Builder,
        pointers: &Pointers,
        lanes: Lanes,
        vector: u32,
        sum: Value,
    ) -> Value {
        let (s, Some(Reduction::Mean)) = (self.s, self.s.kind.reduction()) else {
            return sum;
        };
        let other = pointers.other.expect("a mean has divisors");
        let divisor = lanes.other(b, s.other_dtype(), other, vector);
        if s.dtype.is_float() {
            return b.binary(BinaryOp::Div, sum, divisor);
        }
        apply(b, ScalarFn::Div, s.dtype, &[sum, divisor], lanes.count())
    }
}
