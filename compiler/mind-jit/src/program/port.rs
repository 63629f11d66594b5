//! What goes into a program and comes out.

use mind_ir::types::DType;

/// An input, weight or output of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name; of an output the name of its value.
    pub name: String,
    /// Type of an element.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
}

impl Port {
    /// The bytes of all elements, row-major without gaps.
    pub fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }
}
