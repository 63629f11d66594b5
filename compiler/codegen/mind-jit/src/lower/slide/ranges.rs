//! Loops over subranges of the positions along a dimension.

use mind_vir::ir::{Builder, IndexOp, LoopKind, Value};

use super::Positions;

impl Positions<'_> {
    /// Appends `body` for the edge positions of a phase: those outside of `from..to` that are in the range.
    pub(super) fn edges(
        &self,
        b: &mut Builder,
        axis: usize,
        (from, to): (usize, usize),
        count: usize,
        mut body: impl FnMut(&mut Builder, Value),
    ) {
        let mut part = |b: &mut Builder, bounds: (Value, Value)| {
            let bounds = self.shared(b, axis, bounds);
            b.repeat(LoopKind::Rest, bounds, 1, &[], |b, round| {
                body(b, round.index);
                Vec::new()
            });
        };
        let number = |b: &mut Builder, n: usize| b.index(n as i64);
        if from == 0 || to == count {
            let (start, end) = if from == 0 { (to, count) } else { (0, from) };
            let bounds = (number(b, start), number(b, end));
            return part(b, bounds);
        }
        // Both ends share one body: end 0 is `0..from`, end 1 is `to..count`.
        let ends = (b.index(0), b.index(2));
        b.repeat(LoopKind::Whole, ends, 1, &[], |b, end| {
            let (step, length) = (number(b, to), number(b, count - from));
            let start = b.index_op(IndexOp::Mul, end.index, step);
            let stop = b.index_op(IndexOp::Mul, end.index, length);
            let first = number(b, from);
            let stop = b.index_op(IndexOp::Add, stop, first);
            part(b, (start, stop));
            Vec::new()
        });
    }

    /// Returns the intersection of the positions `start..end` along `axis` with the range.
    fn shared(&self, b: &mut Builder, axis: usize, (start, end): (Value, Value)) -> (Value, Value) {
        if Some(axis) != self.s.shared {
            return (start, end);
        }
        let start = b.index_op(IndexOp::Max, start, self.range.0);
        (start, b.index_op(IndexOp::Min, end, self.range.1))
    }

    /// Appends `body` for the positions `from..to` of a phase that are in the range, in blocks of `rows`.
    pub(super) fn part(
        &self,
        b: &mut Builder,
        axis: usize,
        (from, to): (usize, usize),
        rows: u32,
        mut body: impl FnMut(&mut Builder, Value, u32),
    ) {
        if from >= to {
            return;
        }
        let is_shared = Some(axis) == self.s.shared;
        let bounds = (b.index(from as i64), b.index(to as i64));
        let (mut start, end) = self.shared(b, axis, bounds);
        if !is_shared && to == from + 1 {
            return body(b, start, 1);
        }
        if rows > 1 {
            let step = rows.into();
            let (next, _) = b.repeat(LoopKind::Whole, (start, end), step, &[], |b, round| {
                body(b, round.index, rows);
                Vec::new()
            });
            if !is_shared && (to - from).is_multiple_of(rows as usize) {
                return;
            }
            start = next;
        }
        b.repeat(LoopKind::Rest, (start, end), 1, &[], |b, round| {
            body(b, round.index, 1);
            Vec::new()
        });
    }
}
