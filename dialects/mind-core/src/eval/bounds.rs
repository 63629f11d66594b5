//! What an index may be, and the place that it means.

use mind_ir::eval::EvalError;
use mind_ir::tensor::{Buffer, Tensor};

mind_ir::words! {
    /// What an index along an axis may be.
    pub enum Bounds {
        /// From 0 to below the extent.
        Strict = "strict",
        /// As well from minus the extent, counted from the end.
        FromEnd = "from_end",
        /// Any; the nearest place counts.
        Clamp = "clamp",
        /// Any; outside of the axis, 0 is read and nothing written.
        Skip = "skip",
    }
}

impl Bounds {
    /// The place that `index` means on an axis; `None` for none.
    ///
    /// # Errors
    ///
    /// E6001 out of bounds.
    #[inline]
    pub fn place(self, index: i64, axis: usize, extent: usize) -> Result<Option<usize>, EvalError> {
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
            (place, _) => Ok(place),
        }
    }
}

/// The elements of a tensor of indices.
///
/// # Panics
///
/// The tensor is neither i32 nor i64, as operands of indices are.
pub fn indices(tensor: &Tensor) -> Vec<i64> {
    match tensor.buffer() {
        Buffer::I32(list) => list.iter().map(|&index| index.into()).collect(),
        Buffer::I64(list) => list.to_vec(),
        _ => unreachable!("verified indices are i32 or i64"),
    }
}
