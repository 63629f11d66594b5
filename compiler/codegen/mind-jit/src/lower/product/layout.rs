//! The memory layout of the operands of a product.

use mind_ir::types::DType;

use super::quantised::QuantPanels;

/// The memory layout of the first operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lhs {
    /// Row stride, in elements.
    pub row_stride: usize,
    /// Stride along the contracted dimension, in elements.
    pub k_stride: usize,
}

/// The memory layout of the second operand of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rhs {
    /// The columns of a row are adjacent.
    Rows {
        /// Stride along the contracted dimension, in elements.
        k_stride: usize,
    },
    /// The terms of a column are adjacent: the operand is transposed.
    Columns {
        /// Column stride, in elements.
        n_stride: usize,
    },
    /// Packed by [`pack`](super::pack): panels of columns, each `k` rows of `width` columns.
    Panels(Panels),
    /// Packed by [`pack_quantised`](super::pack_quantised): block-quantised numbers, dequantised to `f32`.
    Quantised(QuantPanels),
}

/// Panels of `width` columns, one after the other; the last one is padded with zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Panels {
    /// Columns of a block: a multiple of the lanes of a vector.
    pub width: usize,
    /// Type of an element: that of the product, or its accumulator's.
    pub dtype: DType,
}

impl Panels {
    /// Returns the size in bytes of `n` columns with `k` terms each.
    pub const fn bytes(&self, n: usize, k: usize) -> usize {
        n.div_ceil(self.width) * self.width * k * self.dtype.size()
    }
}

/// Returns the type that elements are widened to: the accumulator of `dtype`.
pub(super) const fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}
