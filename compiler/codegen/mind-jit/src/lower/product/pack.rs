//! Packing of the second operand of a product into panels.

use mind_ir::types::DType;

use crate::lower::scalar::{storage_lane, widen};
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Op, Value};

use super::layout::Panels;
use super::operands::{beyond, element_pointer};
use crate::lower::transpose::columns_of;

/// The operand to pack, with known extents and strides; strides are in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packing {
    /// Type of an element.
    pub dtype: DType,
    /// Columns.
    pub n: usize,
    /// Terms of each column.
    pub k: usize,
    /// Column stride.
    pub n_stride: usize,
    /// Stride along the contracted dimension.
    pub k_stride: usize,
    /// The layout of the panels.
    pub panels: Panels,
}

impl Packing {
    /// Returns the number of panels.
    pub const fn count(&self) -> usize {
        self.n.div_ceil(self.panels.width)
    }
}

/// Appends the packing of panels `first..end` of the elements at `from` into those at `to`.
///
/// `to` points to all panels, of [`Panels::bytes`] bytes. Columns beyond the last one are zero.
pub fn pack(b: &mut Builder, p: &Packing, from: Value, to: Value, panels: (Value, Value)) {
    if p.n_stride == 1 && p.k_stride > 1 && p.n > p.panels.width {
        return rows_at_a_time(b, p, from, to, panels);
    }
    for_each_panel(b, (p.n, p.panels.width), panels, |b, index, columns| {
        panel(b, p, from, to, index, columns);
    });
}

/// Appends the packing of an operand with contiguous rows: a few rows of all panels at a time, because each row is then
/// read sequentially and few cache lines are open.
fn rows_at_a_time(b: &mut Builder, p: &Packing, from: Value, to: Value, panels: (Value, Value)) {
    const TERMS: usize = 4;
    let width = p.panels.width;
    let terms = |b: &mut Builder, first: Value, count: usize| {
        let from = element_pointer(b, p.dtype, from, first, p.k_stride);
        let to = element_pointer(b, p.panels.dtype, to, first, width);
        for_each_panel(b, (p.n, width), panels, |b, index, columns| {
            let from = element_pointer(b, p.dtype, from, index, width);
            let to = element_pointer(b, p.panels.dtype, to, index, width * p.k);
            for term in 0..count {
                let from = element_offset(b, p.dtype, from, term * p.k_stride);
                let to = element_offset(b, p.panels.dtype, to, term * width);
                let (from, to) = (b.address(from), b.address(to));
                row(b, p, from, to, columns);
            }
        });
    };
    let whole = p.k / TERMS * TERMS;
    let bounds = (b.index(0), b.index(whole as i64));
    let (rest, _) = b.repeat(LoopKind::Whole, bounds, TERMS as i64, &[], |b, round| {
        terms(b, round.index, TERMS);
        Vec::new()
    });
    let end = b.index(p.k as i64);
    b.repeat(LoopKind::Rest, (rest, end), 1, &[], |b, round| {
        terms(b, round.index, 1);
        Vec::new()
    });
}

/// Appends `body` for each of the panels `first..end` of `n` columns, with its index and its number of columns.
pub(super) fn for_each_panel(
    b: &mut Builder,
    (n, width): (usize, usize),
    panels: (Value, Value),
    mut body: impl FnMut(&mut Builder, Value, usize),
) {
    let (whole, tail) = (n / width, n % width);
    let whole = b.index(whole as i64);
    let end = b.index_op(IndexOp::Min, panels.1, whole);
    let (rest, _) = b.repeat(LoopKind::Rest, (panels.0, end), 1, &[], |b, round| {
        body(b, round.index, width);
        Vec::new()
    });
    if tail > 0 {
        b.repeat(LoopKind::Rest, (rest, panels.1), 1, &[], |b, round| {
            body(b, round.index, tail);
            Vec::new()
        });
    }
}

/// Packs the panel at an index, which has `columns` columns.
fn panel(b: &mut Builder, p: &Packing, from: Value, to: Value, index: Value, columns: usize) {
    let width = p.panels.width;
    let from = element_pointer(b, p.dtype, from, index, width * p.n_stride);
    let to = element_pointer(b, p.panels.dtype, to, index, width * p.k);
    only_panel(b, p, from, to, columns);
}

/// Packs the first panel of the elements at `from`, which has `columns` columns.
pub(super) fn only_panel(b: &mut Builder, p: &Packing, from: Value, to: Value, columns: usize) {
    let width = p.panels.width;
    if p.k_stride == 1 && p.n_stride > 1 {
        return transposed_panel(b, p, from, to, columns);
    }
    let bounds = (b.index(0), b.index(p.k as i64));
    b.repeat(LoopKind::Whole, bounds, 1, &[], |b, round| {
        let from = element_pointer(b, p.dtype, from, round.index, p.k_stride);
        let to = element_pointer(b, p.panels.dtype, to, round.index, width);
        row(b, p, from, to, columns);
        Vec::new()
    });
}

/// Packs a panel of contiguous columns: tiles of columns and terms are transposed in registers.
fn transposed_panel(b: &mut Builder, p: &Packing, from: Value, to: Value, columns: usize) {
    let lanes = b.lanes() as usize;
    let whole = p.k / lanes * lanes;
    let squares = |b: &mut Builder, first: Value, terms: usize| {
        let from = element_pointer(b, p.dtype, from, first, 1);
        let to = element_pointer(b, p.panels.dtype, to, first, p.panels.width);
        for column in (0..p.panels.width).step_by(lanes) {
            let here = columns.saturating_sub(column).min(lanes);
            square(b, p, (from, column), to, (here, terms));
        }
    };
    let bounds = (b.index(0), b.index(whole as i64));
    b.repeat(LoopKind::Whole, bounds, lanes as i64, &[], |b, round| {
        squares(b, round.index, lanes);
        Vec::new()
    });
    if whole < p.k {
        squares(b, bounds.1, p.k - whole);
    }
}

/// Packs some terms of a vector of `columns` columns.
fn square(
    b: &mut Builder,
    p: &Packing,
    (from, column): (Value, usize),
    to: Value,
    (columns, terms): (usize, usize),
) {
    let (lanes, lane) = (b.lanes() as usize, storage_lane(p.dtype));
    let count = (terms < lanes).then(|| b.index(terms as i64));
    let square = (0..lanes).map(|at| {
        if at >= columns {
            return b.constant(lane, 0);
        }
        let addr = element_offset(b, p.dtype, from, (column + at) * p.n_stride);
        b.load(lane, addr, count)
    });
    let square = square.collect();
    let turned = columns_of(b, square);
    for (term, &elements) in turned[..terms].iter().enumerate() {
        let addr = element_offset(b, p.panels.dtype, to, term * p.panels.width + column);
        store(b, p, elements, addr);
    }
}

/// Stores elements to a panel, widened if it holds accumulators.
fn store(b: &mut Builder, p: &Packing, elements: Value, addr: Addr) {
    let elements = if p.panels.dtype == p.dtype {
        elements
    } else {
        widen(b, p.dtype, elements)
    };
    b.store(elements, addr, None);
}

/// Packs one row of a panel.
fn row(b: &mut Builder, p: &Packing, from: Value, to: Value, columns: usize) {
    let lanes = b.lanes() as usize;

    for column in (0..p.panels.width).step_by(lanes) {
        let left = columns.saturating_sub(column).min(lanes);
        let count = (left < lanes).then(|| b.index(left as i64));
        let first = element_offset(b, p.dtype, from, column * p.n_stride);
        let lane = storage_lane(p.dtype);
        let elements = match p.n_stride {
            _ if left == 0 => b.constant(lane, 0),
            1 => b.load(lane, first, count),
            stride => {
                let stride = b.index(stride as i64);
                b.op(Op::LoadStrided {
                    lane,
                    addr: first,
                    stride,
                    count,
                })
            }
        };
        let addr = element_offset(b, p.panels.dtype, to, column);
        store(b, p, elements, addr);
    }
}

fn element_offset(b: &mut Builder, dtype: DType, base: Value, elements: usize) -> Addr {
    beyond(b, base, (elements * dtype.size()) as i64)
}
