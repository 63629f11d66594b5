//! The elements of a constant.

use crate::types::DType;

/// Constant data: every element, or one that stands for all of them.
///
/// The shape is that of the constant's type. `count` elements are claimed; the verifier compares
/// that with the type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Literal<'a> {
    /// Element type.
    pub dtype: DType,
    /// How many elements are given; `None` for a splat, which fills whatever shape it has.
    pub count: Option<usize>,
    /// The elements' bytes in native order, row-major; a single element for a splat.
    pub bytes: &'a [u8],
}

impl Literal<'_> {
    /// Whether one element stands for all.
    pub fn is_splat(&self) -> bool {
        self.count.is_none()
    }
}
