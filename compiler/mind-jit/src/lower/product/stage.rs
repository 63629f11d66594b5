//! Copies of blocks of the first operand, as accumulators, close together.

use crate::lower::each::for_each;
use crate::lower::scalar::{compute_lane, storage_lane, widen};
use crate::vir::{Addr, Builder, IndexOp, LoopKind, Op, Value};

use super::operands::{Operands, Product, accumulator, element_pointer};
use super::scratch::Scratch;

/// Rows of the first operand, and some of their terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub rows: (Value, Value),
    /// The first term.
    pub first: Value,
    /// How many there are.
    pub count: usize,
}

/// Appends the copy of a block of the first operand to where tiles read it.
///
/// What lies side by side in the operand lies side by side in the copy.
pub(super) fn stage(b: &mut Builder, p: &Product, scratch: &Scratch, at: Operands, range: Range) {
    let height = b.index_op(IndexOp::Sub, range.rows.1, range.rows.0);
    let from = element_pointer(b, p.dtype, at.lhs, range.rows.0, p.lhs.row_stride);
    let from = element_pointer(b, p.dtype, from, range.first, p.lhs.k_stride);
    let to = at.scratch;
    let (zero, count) = (b.index(0), b.index(range.count as i64));
    let lies = scratch.staged;
    let runs_along_k = lies.k_stride == 1;
    let (lines, length) = if runs_along_k {
        (height, count)
    } else {
        (count, height)
    };
    let (from_line, from_step, to_line) = if runs_along_k {
        (p.lhs.row_stride, p.lhs.k_stride, lies.row_stride)
    } else {
        (p.lhs.k_stride, p.lhs.row_stride, lies.k_stride)
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
