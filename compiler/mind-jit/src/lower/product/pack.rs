//! Packing the second operand of a product into panels.

use mind_ir::types::DType;

use crate::lower::scalar::{storage_lane, widen};
use crate::vir::{Addr, Builder, IndexOp, LoopKind, Op, Value};

use super::operands::{Panels, element_pointer};

/// What is packed, with every extent and stride known; strides are in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packing {
    /// Type of an element.
    pub dtype: DType,
    /// Columns.
    pub n: usize,
    /// Terms of each column.
    pub k: usize,
    /// Elements from one column to the next.
    pub n_stride: usize,
    /// Elements from one term to the next.
    pub k_stride: usize,
    /// How the columns are to lie.
    pub panels: Panels,
}

impl Packing {
    /// How many panels there are.
    pub const fn count(&self) -> usize {
        self.n.div_ceil(self.panels.width)
    }
}

/// Appends the packing of panels `first..end` of the elements at `from` into those at `to`.
///
/// `to` points to all panels, of [`Panels::bytes`] bytes. Columns beyond the last one become zero.
pub fn pack(b: &mut Builder, p: &Packing, from: Value, to: Value, panels: (Value, Value)) {
    let width = p.panels.width;
    let (whole, tail) = (p.n / width, p.n % width);
    let whole = b.index(whole as i64);
    let end = b.index_op(IndexOp::Min, panels.1, whole);
    let (rest, _) = b.repeat(LoopKind::Rest, (panels.0, end), 1, &[], |b, round| {
        panel(b, p, from, to, round.index, width);
        Vec::new()
    });
    if tail > 0 {
        b.repeat(LoopKind::Rest, (rest, panels.1), 1, &[], |b, round| {
            panel(b, p, from, to, round.index, tail);
            Vec::new()
        });
    }
}

/// One panel, of which `columns` columns are there.
fn panel(b: &mut Builder, p: &Packing, from: Value, to: Value, index: Value, columns: usize) {
    let width = p.panels.width;
    let from = element_pointer(b, p.dtype, from, index, width * p.n_stride);
    let to = element_pointer(b, p.panels.dtype, to, index, width * p.k);
    let bounds = (b.index(0), b.index(p.k as i64));
    b.repeat(LoopKind::Whole, bounds, 1, &[], |b, round| {
        let from = element_pointer(b, p.dtype, from, round.index, p.k_stride);
        let to = element_pointer(b, p.panels.dtype, to, round.index, width);
        row(b, p, from, to, columns);
        Vec::new()
    });
}

/// One term of the columns of a panel.
fn row(b: &mut Builder, p: &Packing, from: Value, to: Value, columns: usize) {
    let lanes = b.lanes() as usize;
    let target = storage_lane(p.panels.dtype);
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
        let elements = if p.panels.dtype == p.dtype {
            elements
        } else {
            widen(b, p.dtype, elements)
        };
        let addr = element_offset(b, p.panels.dtype, to, column);
        debug_assert_eq!(
            b.lane(elements),
            target,
            "panels hold elements or accumulators"
        );
        b.store(elements, addr, None);
    }
}

fn element_offset(b: &mut Builder, dtype: DType, base: Value, elements: usize) -> Addr {
    super::operands::beyond(b, base, (elements * dtype.size()) as i64)
}
