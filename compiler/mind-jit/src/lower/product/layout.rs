//! The memory layout of the operands of a product.

use mind_ir::types::DType;

use super::quantised::QuantPanels;

/// The memory layout of the first operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lhs {
    /// Elements from one row to the next.
    pub row_stride: usize,
    /// Elements from one term of a chain to the next.
    pub k_stride: usize,
}

/// The memory layout of the second operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rhs {
    /// The columns of a row are adjacent.
    Rows {
        /// Elements from one term of a chain to the next.
        k_stride: usize,
    },
    /// The terms of a column are adjacent: the operand is transposed.
    Columns {
        /// Elements from one column to the next.
        n_stride: usize,
    },
    /// As [`pack`](super::pack) leaves it: blocks of columns, each `k` rows of `width` columns.
    Panels(Panels),
    /// As [`pack_quantised`](super::pack_quantised) leaves it: numbers in blocks of a few bits each, decoded to
    /// `f32`.
    Quantised(QuantPanels),
}

/// Blocks of `width` columns, one behind the other; the last one is filled up with zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Panels {
    /// Columns of a block: a multiple of the lanes of a vector.
    pub width: usize,
    /// Type of an element: that of the product, or its accumulator's.
    pub dtype: DType,
}

impl Panels {
    /// Bytes of `n` columns with `k` terms each.
    pub const fn bytes(&self, n: usize, k: usize) -> usize {
        n.div_ceil(self.width) * self.width * k * self.dtype.size()
    }
}

/// The type of elements once they are widened for arithmetic: the accumulator of `dtype`.
pub(super) const fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}
