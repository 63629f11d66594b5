//! The elements of a constant.

use std::hash::{Hash, Hasher};

use crate::types::DType;

/// The most bytes at the start of a literal, and at its end, that its hash reads.
const HASHED: usize = 1 << 10;

/// Constant data: every element, or one that stands for all of them.
///
/// The shape is that of the constant's type. `count` elements are claimed; the verifier compares
/// that with the type.
#[derive(Clone, Copy, Eq, Debug)]
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

/// By dtype, count and bytes; the same bytes in the same memory are not read.
impl PartialEq for Literal<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same_form = (self.dtype, self.count) == (other.dtype, other.count);
        same_form && (std::ptr::eq(self.bytes, other.bytes) || self.bytes == other.bytes)
    }
}

/// By dtype, count, and the first and last bytes of many: weights take as long to read as to copy.
impl Hash for Literal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.dtype, self.count, self.bytes.len()).hash(state);
        match self.bytes {
            all if all.len() <= 2 * HASHED => all.hash(state),
            all => {
                all[..HASHED].hash(state);
                all[all.len() - HASHED..].hash(state);
            }
        }
    }
}
