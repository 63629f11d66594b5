//! The taps of windows, in order.

use mind_ir::scalar::Reduction;
use mind_ir::types::DType;

use crate::lower::product::multiply_add;
use crate::lower::{combine, compute_lane, load, storage_lane, widen};
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Op, Value};

use super::block::PositionRun;
use super::{Pointers, Slide, TapOrigin, moved};

/// Maximum number of taps that are unrolled.
const WRITTEN_OUT: usize = 16;

/// The positions of a vector.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    /// One position, broadcast to every lane.
    One,
    /// Adjacent positions along the vectorised dimension.
    Many {
        vectors: u32,
        /// The number of active lanes; `None` if all are active.
        count: Option<Value>,
        /// Input stride of lanes, in elements.
        input: i64,
        /// Stride of lanes in the second operand, in elements.
        other: i64,
    },
}

impl Lanes {
    pub fn vectors(self) -> u32 {
        match self {
            Lanes::One => 1,
            Lanes::Many { vectors, .. } => vectors,
        }
    }

    pub fn count(self) -> Option<Value> {
        match self {
            Lanes::One => None,
            Lanes::Many { count, .. } => count,
        }
    }

    /// Loads the input elements of a vector, at an offset of `bytes` from a pointer.
    fn input(self, b: &mut Builder, dtype: DType, from: (Value, i32), vector: u32) -> Value {
        let stride = match self {
            Lanes::One => 0,
            Lanes::Many { input, .. } => input,
        };
        self.elements(b, dtype, from, stride, vector)
    }

    /// Loads the elements of the second operand for a vector.
    pub fn other(self, b: &mut Builder, dtype: DType, pointer: Value, vector: u32) -> Value {
        let stride = match self {
            Lanes::One => 0,
            Lanes::Many { other, .. } => other,
        };
        self.elements(b, dtype, (pointer, 0), stride, vector)
    }

    fn elements(
        self,
        b: &mut Builder,
        dtype: DType,
        (pointer, bytes): (Value, i32),
        stride: i64,
        vector: u32,
    ) -> Value {
        let lane = storage_lane(dtype);
        let ahead = vector * b.lanes();
        let elements = match stride {
            0 => b.load_splat(lane, Addr::at(pointer).plus(bytes)),
            1 => {
                let addr = Addr::at(pointer).plus(bytes + (ahead * lane.bytes()) as i32);
                return load(b, dtype, addr, self.count());
            }
            stride => {
                let (first, stride) = (b.index(i64::from(ahead) * stride), b.index(stride));
                b.op(Op::LoadStrided {
                    lane,
                    addr: Addr::element(pointer, first, lane).plus(bytes),
                    stride,
                    count: self.count(),
                })
            }
        };
        widen(b, dtype, elements)
    }

    /// Returns whether all vectors have the same elements of the second operand.
    fn shares_other(self) -> bool {
        matches!(self, Lanes::One | Lanes::Many { other: 0, .. })
    }

    /// Returns whether all vectors have the same input elements.
    fn shares_input(self) -> bool {
        matches!(self, Lanes::One | Lanes::Many { input: 0, .. })
    }
}

/// The windows at a block of positions.
pub(super) struct Taps<'a> {
    pub s: &'a Slide,
    /// The windows along each dimension.
    pub places: &'a [TapOrigin],
    pub lanes: Lanes,
    pub rows: PositionRun,
}

/// A tap: the pointer to its elements, `None` if it is out of bounds, and to the filter.
#[derive(Clone, Copy)]
struct At {
    input: Option<Value>,
    other: Option<Value>,
}

impl Taps<'_> {
    /// Appends the chains over all taps, starting from `sums`.
    pub fn chains(&self, b: &mut Builder, pointers: &Pointers, sums: Vec<Value>) -> Vec<Value> {
        let other = pointers.other.filter(|_| self.has_filter());
        let at = At {
            input: Some(pointers.input),
            other,
        };
        self.dimension(b, 0, at, sums)
    }

    fn has_filter(&self) -> bool {
        self.s.kind.reduction().is_none()
    }

    /// Returns whether taps out of bounds are multiplied as zeros, which matters only for floats.
    fn multiplies_outside(&self) -> bool {
        self.s.is_padded() && self.s.dtype.is_float()
    }

    /// Appends the taps along the dimensions from `axis`.
    fn dimension(&self, b: &mut Builder, axis: usize, at: At, sums: Vec<Value>) -> Vec<Value> {
        let Some(place) = self.places.get(axis) else {
            return self.tap(b, at, sums);
        };
        let all = (b.index(0), b.index(place.phase.taps as i64));
        match place.origin {
            _ if at.input.is_none() => self.outside(b, axis, at, all, sums),
            None if self.is_written_out(axis) => (0..place.phase.taps).fold(sums, |sums, tap| {
                let tap = b.index(tap as i64);
                let at = self.inside(b, axis, at, tap);
                self.dimension(b, axis + 1, at, sums)
            }),
            None => self.repeat(b, all, sums, |b, tap, sums| {
                let at = self.inside(b, axis, at, tap);
                self.dimension(b, axis + 1, at, sums)
            }),
            Some(origin) => self.edge(b, axis, at, origin, sums),
        }
    }

    /// Returns whether there are few enough taps from dimension `axis` to unroll them.
    fn is_written_out(&self, axis: usize) -> bool {
        let taps = self.places[axis..].iter().map(|place| place.phase.taps);
        taps.fold(1, usize::saturating_mul) <= WRITTEN_OUT
    }

    /// Appends taps that may be out of bounds, given the element under the first.
    fn edge(
        &self,
        b: &mut Builder,
        axis: usize,
        at: At,
        origin: Value,
        sums: Vec<Value>,
    ) -> Vec<Value> {
        let (phase, extent) = (self.places[axis].phase, self.s.axes[axis].slide.extent);
        let (zero, taps) = (b.index(0), b.index(phase.taps as i64));
        let (one, extent) = (b.index(1), b.index(extent as i64));
        if phase.dilation.abs() != 1 {
            return self.repeat(b, (zero, taps), sums, |b, tap, sums| {
                let step = b.index(phase.dilation);
                let element = b.index_op(IndexOp::Mul, tap, step);
                let element = b.index_op(IndexOp::Add, origin, element);
                self.one_tap(b, axis, at, (tap, element), sums)
            });
        }
        let (first, end) = if phase.dilation > 0 {
            let first = b.index_op(IndexOp::Sub, zero, origin);
            (first, b.index_op(IndexOp::Sub, extent, origin))
        } else {
            let first = b.index_op(IndexOp::Sub, origin, extent);
            let first = b.index_op(IndexOp::Add, first, one);
            (first, b.index_op(IndexOp::Add, origin, one))
        };
        let first = b.index_op(IndexOp::Max, first, zero);
        let first = b.index_op(IndexOp::Min, first, taps);
        let end = b.index_op(IndexOp::Max, end, first);
        let end = b.index_op(IndexOp::Min, end, taps);
        let sums = self.outside(b, axis, at, (zero, first), sums);
        let sums = self.repeat(b, (first, end), sums, |b, tap, sums| {
            let at = self.at_element(b, axis, at, origin, tap);
            self.dimension(b, axis + 1, at, sums)
        });
        self.outside(b, axis, at, (end, taps), sums)
    }

    /// Appends a tap at `element`, which may be out of bounds, as loops with a trip count of 0 or 1.
    fn one_tap(
        &self,
        b: &mut Builder,
        axis: usize,
        at: At,
        (tap, element): (Value, Value),
        sums: Vec<Value>,
    ) -> Vec<Value> {
        let (zero, one) = (b.index(0), b.index(1));
        let extent = b.index(self.s.axes[axis].slide.extent as i64);
        let after = b.index_op(IndexOp::Add, element, one);
        let bounded = |b: &mut Builder, low: Value, high: Value| {
            let start = b.index_op(IndexOp::Max, element, low);
            (start, b.index_op(IndexOp::Min, after, high))
        };
        let other = self.tap_of_filter(b, axis, at, tap);
        let outside = At { input: None, other };
        let mut sums = sums;
        let within = bounded(b, zero, extent);
        sums = self.repeat(b, within, sums, |b, element, sums| {
            let stride = self.s.axes[axis].input;
            let input = at
                .input
                .map(|input| moved(b, input, self.s.dtype, element, stride));
            self.dimension(b, axis + 1, At { input, other }, sums)
        });
        if !self.multiplies_outside() {
            return sums;
        }
        let before = (element, b.index_op(IndexOp::Min, after, zero));
        let beyond = (b.index_op(IndexOp::Max, element, extent), after);
        for range in [before, beyond] {
            sums = self.repeat(b, range, sums, |b, _, sums| {
                self.dimension(b, axis + 1, outside, sums)
            });
        }
        sums
    }

    /// Appends a range of taps that are out of bounds.
    fn outside(
        &self,
        b: &mut Builder,
        axis: usize,
        at: At,
        range: (Value, Value),
        sums: Vec<Value>,
    ) -> Vec<Value> {
        if !self.multiplies_outside() {
            return sums;
        }
        self.repeat(b, range, sums, |b, tap, sums| {
            let other = self.tap_of_filter(b, axis, at, tap);
            self.dimension(b, axis + 1, At { input: None, other }, sums)
        })
    }

    fn repeat(
        &self,
        b: &mut Builder,
        range: (Value, Value),
        sums: Vec<Value>,
        body: impl FnOnce(&mut Builder, Value, Vec<Value>) -> Vec<Value>,
    ) -> Vec<Value> {
        let (_, sums) = b.repeat(LoopKind::Rest, range, 1, &sums, |b, round| {
            body(b, round.index, round.carried.to_vec())
        });
        sums
    }

    /// Returns tap `tap`, if the pointer is at the first one.
    fn inside(&self, b: &mut Builder, axis: usize, at: At, tap: Value) -> At {
        let stride = self.places[axis].phase.dilation * self.s.axes[axis].input;
        let dtype = self.s.dtype;
        At {
            input: at.input.map(|input| moved(b, input, dtype, tap, stride)),
            other: self.tap_of_filter(b, axis, at, tap),
        }
    }

    /// Returns tap `tap`, if the first one is at element `origin` of the dimension.
    fn at_element(&self, b: &mut Builder, axis: usize, at: At, origin: Value, tap: Value) -> At {
        let step = b.index(self.places[axis].phase.dilation);
        let element = b.index_op(IndexOp::Mul, tap, step);
        let element = b.index_op(IndexOp::Add, origin, element);
        let (stride, dtype) = (self.s.axes[axis].input, self.s.dtype);
        At {
            input: at
                .input
                .map(|input| moved(b, input, dtype, element, stride)),
            other: self.tap_of_filter(b, axis, at, tap),
        }
    }

    fn tap_of_filter(&self, b: &mut Builder, axis: usize, at: At, tap: Value) -> Option<Value> {
        let stride = self.places[axis].phase.tap_step as i64 * self.s.axes[axis].tap;
        at.other
            .map(|other| moved(b, other, self.s.dtype, tap, stride))
    }

    /// Appends one more term of each chain, row by row.
    fn tap(&self, b: &mut Builder, at: At, sums: Vec<Value>) -> Vec<Value> {
        let (dtype, lanes) = (self.s.dtype, self.lanes);
        let vectors = lanes.vectors();
        let mut others: Vec<Option<Value>> = vec![None; vectors as usize];
        let mut shared = None;
        let mut next = Vec::with_capacity(sums.len());
        for (place, sum) in (0..).zip(sums) {
            let (row, vector) = (place / vectors, place % vectors);
            if vector == 0 {
                shared = lanes.shares_input().then(|| self.element(b, at, row, 0));
            }
            let x = shared.unwrap_or_else(|| self.element(b, at, row, vector));
            let which = if lanes.shares_other() { 0 } else { vector };
            if let (0, Some(pointer)) = (row, at.other) {
                let known = others[which as usize];
                let y = known.unwrap_or_else(|| lanes.other(b, dtype, pointer, which));
                others[which as usize] = Some(y);
            }
            next.push(match (self.s.kind.reduction(), others[which as usize]) {
                (None, Some(y)) => multiply_add(b, dtype, x, y, sum),
                (kind, _) => combine(b, kind.unwrap_or(Reduction::Sum), dtype, sum, x),
            });
        }
        next
    }

    /// Returns the elements under a tap, 0 if it is out of bounds.
    fn element(&self, b: &mut Builder, at: At, row: u32, vector: u32) -> Value {
        let dtype = self.s.dtype;
        match at.input {
            Some(pointer) => {
                let ahead = self.rows.input(row, storage_lane(dtype));
                self.lanes.input(b, dtype, (pointer, ahead), vector)
            }
            None => b.constant(compute_lane(dtype), 0),
        }
    }
}
