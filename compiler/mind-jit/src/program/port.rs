//! What goes into a program and comes out.

use mind_ir::types::{DType, QuantFormat};

/// An input, weight or output of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name; of an output without one the number of its value, as in `%3`.
    pub name: String,
    /// Type of an element.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// The format that its rows are given in, where that is not the dtype's.
    pub format: Option<QuantFormat>,
}

impl Port {
    /// The bytes of all elements, row-major without gaps.
    pub fn bytes(&self) -> usize {
        let elements = self.shape.iter().product::<usize>();
        match self.format {
            Some(format) => format.bytes(elements),
            None => elements * self.dtype.size(),
        }
    }
}
