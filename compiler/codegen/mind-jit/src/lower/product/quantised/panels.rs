//! The layout of block-quantised panels.

use crate::lower::scalar::storage_lane;
use mind_ir::types::DType;
use mind_vir::ir::{Addr, Builder, IndexOp, Lane, Value};

use super::format::Facts;
use mind_ir::types::QuantFormat;

/// Panels of `width` columns, one after the other; each holds the blocks of all its columns, from the first terms. The
/// last panel is padded with zeros.
///
/// A block is stored field by field, and each field as rows of `width` elements: block scales as `f16` or `f32`, minima
/// as `f16`, group scales and minima as bytes, then words of high bits and words of low bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QuantPanels {
    /// Columns of a panel: a multiple of the lanes of a vector.
    pub width: usize,
    /// The format of numbers.
    pub format: QuantFormat,
}

/// Offsets in bytes of the fields of a block, per column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub scale: usize,
    pub minimum: usize,
    pub scales: usize,
    pub minima: usize,
    pub high: usize,
    pub low: usize,
    pub end: usize,
}

impl QuantPanels {
    /// Returns the size in bytes of `n` columns with `k` terms each; `k` is a multiple of the format's
    /// [`elements`](QuantFormat::elements).
    pub fn bytes(&self, n: usize, k: usize) -> usize {
        n.div_ceil(self.width) * self.panel_bytes(k)
    }

    /// Returns the size of a panel in bytes.
    pub(super) fn panel_bytes(&self, k: usize) -> usize {
        k / self.format.elements() * self.block_bytes()
    }

    /// Returns the size in bytes of the blocks of all columns of a panel.
    pub(super) fn block_bytes(&self) -> usize {
        self.fields().end * self.width
    }

    pub(super) fn fields(&self) -> Fields {
        let facts = Facts::of(self.format);
        let half = DType::F16.size();
        let (groups, minima) = facts.groups.counts();
        let minimum = facts.scale.size();
        let scales = minimum + facts.minimum.map_or(0, |_| half);
        let lows = scales + groups;
        let high = lows + minima;
        let low = high + 4 * facts.high.words();
        Fields {
            scale: 0,
            minimum,
            scales,
            minima: lows,
            high,
            low,
            end: low + 4 * facts.low.words(),
        }
    }

    /// Returns the address of block number `block` of the panel of `column`, with `k` terms per column.
    pub(in crate::lower::product) fn pointer(
        &self,
        b: &mut Builder,
        base: Value,
        k: usize,
        (column, block): (Value, Value),
    ) -> Value {
        // The size of a panel is a multiple of its width.
        let of_column = b.index((self.panel_bytes(k) / self.width) as i64);
        let of_block = b.index(self.block_bytes() as i64);
        let column = b.index_op(IndexOp::Mul, column, of_column);
        let block = b.index_op(IndexOp::Mul, block, of_block);
        let index = b.index_op(IndexOp::Add, column, block);
        b.address(Addr::element(base, index, Lane::I8))
    }
}

/// Loads the `f16` numbers at `addr`, widened.
pub(super) fn halves(b: &mut Builder, addr: Addr) -> Value {
    let bits = b.load(storage_lane(DType::F16), addr, None);
    crate::lower::scalar::widen(b, DType::F16, bits)
}
