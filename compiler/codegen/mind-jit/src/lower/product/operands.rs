//! Operands and results of a product.

use mind_core::parts::Parts;
use mind_ir::types::DType;

use crate::lower::each::At;
use crate::lower::scalar::storage_lane;
use mind_vir::ir::{Addr, Builder, IndexOp, Lane, Value};

use super::layout::{Lhs, Rhs};
use super::schedule::Schedule;

/// A matrix product, `m × k` times `k × n`, with known extents and strides.
///
/// Strides are in elements. An element of the result is one chain of multiply-adds over ascending `k`, in the
/// accumulator of the dtype, as docs/numerics.md specifies for contractions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Product {
    /// Type of both operands; any but `bool`.
    pub dtype: DType,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Terms of each chain.
    pub k: usize,
    /// The layout of the first operand.
    pub lhs: Lhs,
    /// The layout of the second operand.
    pub rhs: Rhs,
    /// The integers packed in an `i32` element, whose products are summed.
    pub parts: Parts,
    /// The schedule; every choice gives the same bits.
    pub schedule: Schedule,
}

/// The operands of a product.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Points to the first operand.
    pub lhs: Value,
    /// Points to the second operand.
    pub rhs: Value,
}

/// A part of the result, as half-open ranges.
///
/// Ranges are aligned to the [`grain`](Product::grain), except at the extent.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Rows.
    pub rows: (Value, Value),
    /// Columns.
    pub columns: (Value, Value),
}

/// The position of a vector of the result.
#[derive(Clone, Copy, Debug)]
pub struct TileCoord {
    /// The first row of the tile.
    pub row: Value,
    /// The row of this vector within the tile.
    pub below: u32,
    /// The columns.
    pub column: At,
}

impl TileCoord {
    /// Returns the index of the row.
    pub fn row_index(&self, b: &mut Builder) -> Value {
        let below = b.index(self.below.into());
        b.index_op(IndexOp::Add, self.row, below)
    }

    /// Returns the address of these elements in a matrix at `base` of elements of type `lane`, with the row stride
    /// `row_stride`.
    pub fn addr(&self, b: &mut Builder, base: Value, row_stride: usize, lane: Lane) -> Addr {
        let stride = b.index(row_stride as i64);
        let row = b.index_op(IndexOp::Mul, self.row, stride);
        let index = b.index_op(IndexOp::Add, row, self.column.index);
        let ahead = i64::from(self.below) * row_stride as i64 + i64::from(self.column.ahead);
        let bytes = ahead * i64::from(lane.bytes());
        if let Ok(offset) = i32::try_from(bytes) {
            return Addr::element(base, index, lane).plus(offset);
        }
        let ahead = b.index(ahead);
        let index = b.index_op(IndexOp::Add, index, ahead);
        Addr::element(base, index, lane)
    }
}

/// Returns the address `bytes` after `base`.
pub(super) fn beyond(b: &mut Builder, base: Value, bytes: i64) -> Addr {
    match i32::try_from(bytes) {
        Ok(offset) => Addr::at(base).plus(offset),
        Err(_) => Addr {
            base,
            index: Some(b.index(bytes)),
            scale: 1,
            offset: 0,
        },
    }
}

/// The pointer `index * stride` elements of `dtype` after `base`.
pub(super) fn element_pointer(
    b: &mut Builder,
    dtype: DType,
    base: Value,
    index: Value,
    stride: usize,
) -> Value {
    let stride = b.index(stride as i64);
    let index = b.index_op(IndexOp::Mul, index, stride);
    b.address(Addr::element(base, index, storage_lane(dtype)))
}
