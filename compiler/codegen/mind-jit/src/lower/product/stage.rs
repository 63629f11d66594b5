//! Copies of operand blocks to scratch memory, in the accumulator type.

use crate::lower::each::for_each;
use crate::lower::scalar::{compute_lane, storage_lane, widen};
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Op, Value};

use super::layout::{Rhs, accumulator};
use super::operands::{Product, beyond, element_pointer};
use super::pack::only_panel;
use super::right::Right;
use super::scratch::Scratch;
use super::tile::{Strip, load_strip};

/// Rows of the first operand, with a range of terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub rows: (Value, Value),
    /// The first term.
    pub first: Value,
    /// The number of terms.
    pub count: usize,
}

/// Appends the copy of a block of the first operand, at `lhs`, to the scratch memory that tiles read.
///
/// The dimension that is contiguous in the operand is contiguous in the copy.
pub(super) fn stage(
    b: &mut Builder,
    p: &Product,
    scratch: &Scratch,
    (lhs, memory): (Value, Value),
    range: Range,
) {
    let height = b.index_op(IndexOp::Sub, range.rows.1, range.rows.0);
    let from = element_pointer(b, p.dtype, lhs, range.rows.0, p.lhs.row_stride);
    let from = element_pointer(b, p.dtype, from, range.first, p.lhs.k_stride);
    let to = memory;
    let (zero, count) = (b.index(0), b.index(range.count as i64));
    let layout = scratch.staged;
    let runs_along_k = layout.k_stride == 1;
    let (lines, length) = if runs_along_k {
        (height, count)
    } else {
        (count, height)
    };
    let (from_line, from_step, to_line) = if runs_along_k {
        (p.lhs.row_stride, p.lhs.k_stride, layout.row_stride)
    } else {
        (p.lhs.k_stride, p.lhs.row_stride, layout.k_stride)
    };
    b.repeat(LoopKind::Rest, (zero, lines), 1, &[], |b, round| {
        let from = element_pointer(b, p.dtype, from, round.index, from_line);
        let to = element_pointer(b, accumulator(p.dtype), to, round.index, to_line);
        line(b, p, (from, from_step), to, length);
        Vec::new()
    });
}

/// One line of the copy.
fn line(b: &mut Builder, p: &Product, (from, step): (Value, usize), to: Value, length: Value) {
    const UNROLL: u32 = 4;
    for_each(b, length, UNROLL, |b, at| {
        let lane = storage_lane(p.dtype);
        let elements = if step == 1 {
            b.load(lane, at.addr(from, lane), at.count)
        } else {
            let ahead = b.index(at.ahead.into());
            let first = b.index_op(IndexOp::Add, at.index, ahead);
            let stride = b.index(step as i64);
            let first = b.index_op(IndexOp::Mul, first, stride);
            b.op(Op::LoadStrided {
                lane,
                addr: Addr::element(from, first, lane),
                stride,
                count: at.count,
            })
        };
        let elements = widen(b, p.dtype, elements);
        b.store(elements, at.addr(to, compute_lane(p.dtype)), at.count);
    });
}

/// Appends the copy of a strip of the second operand, `terms` terms of `columns` columns at `from`, to rows of `width`
/// accumulators at `to`.
pub(super) fn stage_strip(
    b: &mut Builder,
    right: &Right,
    (from, to): (Value, Value),
    (columns, width): (usize, usize),
    terms: usize,
) {
    const UNROLL: usize = 4;
    if let Rhs::Columns { .. } = right.layout {
        return only_panel(b, &right.packing(width, terms), from, to, columns);
    }
    let copy = Copy {
        right,
        strips: right.strips(b.lanes() as usize, columns),
        row_bytes: (width * accumulator(right.dtype).size()) as i64,
    };
    let whole = terms / UNROLL * UNROLL;
    let bounds = (b.index(0), b.index(whole as i64));
    let (_, left) = b.repeat(
        LoopKind::Whole,
        bounds,
        UNROLL as i64,
        &[from, to],
        |b, round| copy.terms(b, round.carried[0], round.carried[1], UNROLL),
    );
    copy.terms(b, left[0], left[1], terms - whole);
}

/// A copy of terms of a strip with the row stride `row_bytes`.
struct Copy<'r> {
    right: &'r Right,
    strips: Vec<Strip>,
    row_bytes: i64,
}

impl Copy<'_> {
    /// Appends `count` terms; returns the next source and destination.
    fn terms(&self, b: &mut Builder, from: Value, to: Value, count: usize) -> Vec<Value> {
        let (walk, size) = (self.right.walk(), accumulator(self.right.dtype).size());
        let vector = b.lanes() as usize * size;
        for term in 0..count as i64 {
            for (at, &strip) in self.strips.iter().enumerate() {
                let elements = load_strip(b, &walk, strip, from, term);
                let addr = beyond(b, to, term * self.row_bytes + (at * vector) as i64);
                b.store(elements, addr, None);
            }
        }
        [(from, walk.k), (to, self.row_bytes)]
            .map(|(at, step)| {
                let next = beyond(b, at, count as i64 * step);
                b.address(next)
            })
            .to_vec()
    }
}
