//! Accesses of tiles to the second operand.

use mind_ir::types::DType;

use mind_vir::ir::{Builder, Value};

use super::layout::{Panels, Rhs, accumulator};
use super::operands::element_pointer;
use super::pack::Packing;
use super::tile::{Strip, Walk};

/// The second operand of a product with chains of `k` terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right {
    /// Type of the operands of the product.
    pub dtype: DType,
    pub layout: Rhs,
    pub k: usize,
}

impl Right {
    /// Returns the layout of a copy of a strip of `width` columns and `k` terms, in the accumulator type.
    pub fn staged(&self, width: usize, k: usize) -> Right {
        let layout = Rhs::Panels(Panels {
            width,
            dtype: accumulator(self.dtype),
        });
        Right { layout, k, ..*self }
    }

    /// Returns the packing that makes such a copy.
    pub fn packing(&self, width: usize, k: usize) -> Packing {
        let (dtype, n_stride, k_stride) = self.steps();
        let panels = Panels {
            width,
            dtype: accumulator(self.dtype),
        };
        Packing {
            dtype,
            n: width,
            k,
            n_stride,
            k_stride,
            panels,
        }
    }

    /// Returns the element type, the column stride and the stride along the contracted dimension, in elements.
    fn steps(&self) -> (DType, usize, usize) {
        match self.layout {
            Rhs::Rows { k_stride } => (self.dtype, 1, k_stride),
            Rhs::Columns { n_stride } => (self.dtype, n_stride, 1),
            Rhs::Panels(panels) => (panels.dtype, self.k, panels.width),
            Rhs::Quantised(_) => unreachable!("tiles read decoded strips"),
        }
    }

    /// Returns the address of a term of a column, which is the first one of a tile.
    pub fn pointer(&self, b: &mut Builder, base: Value, column: Value, term: Value) -> Value {
        let (dtype, of_column, of_term) = self.steps();
        let column = element_pointer(b, dtype, base, column, of_column);
        element_pointer(b, dtype, column, term, of_term)
    }

    /// Returns the strides of a tile's loop.
    pub fn walk(&self) -> Walk {
        let (dtype, _, of_term) = self.steps();
        Walk {
            dtype,
            row: 0,
            k: (of_term * dtype.size()) as i64,
            segment: 0,
        }
    }

    /// Returns the unroll factor, at least `unroll`; a multiple of the tile size if columns are transposed.
    pub fn unroll(&self, unroll: u32, lanes: u32) -> u32 {
        match self.layout {
            Rhs::Columns { .. } => unroll.next_multiple_of(lanes),
            Rhs::Rows { .. } | Rhs::Panels(_) | Rhs::Quantised(_) => unroll,
        }
    }

    /// Returns the vectors of a tile of `width` columns.
    pub fn strips(&self, lanes: usize, width: usize) -> Vec<Strip> {
        let element = self.dtype.size() as i64;
        let strips = (0..width).step_by(lanes).map(|column| {
            let left = (width - column).min(lanes) as u32;
            let count = (left < lanes as u32).then_some(left);
            match self.layout {
                Rhs::Rows { .. } => Strip::Load {
                    offset: column as i64 * element,
                    count,
                },
                Rhs::Columns { n_stride } => Strip::Transposed {
                    offset: (column * n_stride) as i64 * element,
                    count: left,
                    stride: n_stride as i64 * element,
                },
                Rhs::Panels(panels) => {
                    let (panel, inside) = (column / panels.width, column % panels.width);
                    let elements = panel * panels.width * self.k + inside;
                    Strip::Load {
                        offset: (elements * panels.dtype.size()) as i64,
                        count: None,
                    }
                }
                Rhs::Quantised(_) => unreachable!("tiles read decoded strips"),
            }
        });
        strips.collect()
    }
}
