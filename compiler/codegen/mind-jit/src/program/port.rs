//! Inputs, weights and outputs of programs.

use mind_ir::types::{DType, QuantFormat};

/// An input, weight or output of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// The name. An output without a name has the number of its value, for example `%3`.
    pub name: String,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The extents, outermost first.
    pub shape: Vec<usize>,
    /// The quantised format of its rows; `None` if elements have the dtype's format.
    pub format: Option<QuantFormat>,
}

impl Port {
    /// Returns the bytes of all elements, dense and row-major.
    pub fn bytes(&self) -> usize {
        let elements = self.shape.iter().product::<usize>();
        match self.format {
            Some(format) => format.bytes(elements),
            None => elements * self.dtype.size(),
        }
    }
}
