//! What a product multiplies, and where each element of its result is.

use mind_core::parts::Parts;
use mind_ir::types::DType;

use crate::lower::each::At;
use crate::lower::scalar::storage_lane;
use mind_vir::ir::{Addr, Builder, IndexOp, Lane, Value};

use super::layout::{Lhs, Rhs};
use super::schedule::Schedule;

/// A matrix product, `m × k` times `k × n`, with every extent and stride known.
///
/// Strides are in elements. An element of the result is one chain of multiply-adds over ascending `k`, in
/// the accumulator of the dtype, as docs/numerics.md says of contractions.
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
    /// How the first operand lies.
    pub lhs: Lhs,
    /// How the second operand lies.
    pub rhs: Rhs,
    /// The integers that elements of `i32` hold, whose products are added up.
    pub parts: Parts,
    /// How the work is cut; no choice changes a bit of the result.
    pub schedule: Schedule,
}

/// What a product multiplies.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Points to the first operand.
    pub lhs: Value,
    /// Points to the second operand.
    pub rhs: Value,
}

/// A part of the result, as ranges of indices.
///
/// A range begins at a multiple of the [`grain`](Product::grain), and ends at one or at the extent.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// First row, and the one after the last.
    pub rows: (Value, Value),
    /// First column, and the one after the last.
    pub columns: (Value, Value),
}

/// Where the elements of one vector of the result are.
#[derive(Clone, Copy, Debug)]
pub struct TileCoord {
    /// The first row of the tile.
    pub row: Value,
    /// Rows between that one and this vector.
    pub below: u32,
    /// The columns.
    pub column: At,
}

impl TileCoord {
    /// The index of the row.
    pub fn row_index(&self, b: &mut Builder) -> Value {
        let below = b.index(self.below.into());
        b.index_op(IndexOp::Add, self.row, below)
    }

    /// Where these elements are in a matrix at `base` of elements of type `lane`, `row_stride` apart from
    /// one row to the next.
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

/// Elements of `dtype` at `base`, `bytes` further on.
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
