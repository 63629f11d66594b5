//! The elements of a constant.

use std::hash::{Hash, Hasher};

use crate::types::DType;

/// The number of bytes at the start and at the end of a long literal that its hash reads.
const HASHED: usize = 1 << 10;

/// Constant data: all elements, or a splat, which is one element that is repeated.
///
/// The shape is that of the constant's type. The verifier checks that `count` fits the type.
#[derive(Clone, Copy, Eq, Debug)]
pub struct Literal<'a> {
    /// Element type.
    pub dtype: DType,
    /// The number of elements; `None` for a splat, which has any shape.
    pub count: Option<usize>,
    /// The elements' bytes in native byte order, row-major; a single element for a splat.
    pub bytes: &'a [u8],
}

impl Literal<'_> {
    /// Whether this is a splat.
    pub fn is_splat(&self) -> bool {
        self.count.is_none()
    }
}

/// Compares dtype, count and bytes. The bytes are not read if both literals are the same memory.
impl PartialEq for Literal<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same_form = (self.dtype, self.count) == (other.dtype, other.count);
        same_form && (std::ptr::eq(self.bytes, other.bytes) || self.bytes == other.bytes)
    }
}

/// Hashes dtype, count and, of long literals, only the first and last bytes, because hashing all weights of a model
/// would take as long as copying them.
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
