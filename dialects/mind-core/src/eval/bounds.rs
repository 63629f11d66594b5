//! Out-of-bounds policies of indices.

use mind_ir::eval::EvalError;
use mind_ir::tensor::{Buffer, Tensor};

mind_ir::words! {
    /// The indices that are valid along an axis.
    pub enum Bounds {
        /// From 0 to below the extent.
        Strict = "strict",
        /// Like `strict`, and also negative indices down to minus the extent, which count from the end.
        FromEnd = "from_end",
        /// Any; clamped to the axis.
        Clamp = "clamp",
        /// Any; out-of-bounds reads give 0, and out-of-bounds writes are dropped.
        Skip = "skip",
    }
}

impl Bounds {
    /// Returns the position that `index` selects on an axis; `None` if it is skipped.
    ///
    /// # Errors
    ///
    /// E6001 out of bounds.
    #[inline]
    pub fn position(
        self,
        index: i64,
        axis: usize,
        extent: usize,
    ) -> Result<Option<usize>, EvalError> {
        let length = extent as i64;
        let own = match self {
            Bounds::Strict | Bounds::Skip => index,
            Bounds::FromEnd if index < 0 => index + length,
            Bounds::FromEnd => index,
            Bounds::Clamp => index.min(length - 1).max(0),
        };
        let inside = usize::try_from(own).ok().filter(|&at| at < extent);
        match (inside, self) {
            (None, Bounds::Strict | Bounds::FromEnd | Bounds::Clamp) => {
                Err(EvalError::IndexOutOfBounds {
                    index,
                    axis,
                    extent,
                })
            }
            (position, _) => Ok(position),
        }
    }
}

/// Returns the elements of a tensor of indices.
///
/// # Panics
///
/// If the tensor is neither i32 nor i64; the verifier guarantees one of them.
pub fn indices(tensor: &Tensor) -> Vec<i64> {
    match tensor.buffer() {
        Buffer::I32(list) => list.iter().map(|&index| index.into()).collect(),
        Buffer::I64(list) => list.to_vec(),
        _ => unreachable!("verified indices are i32 or i64"),
    }
}
