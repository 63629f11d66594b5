//! Small integers packed in 32-bit ones, for integer dot products.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;

mind_ir::words! {
    /// The integers packed in each element of the operands of a product, the lowest bits first.
    pub enum Parts {
        /// The element itself; nothing is packed.
        Whole = "whole",
        /// Two signed 16-bit integers.
        Halves = "halves",
        /// Four 8-bit integers, unsigned on the left side and signed on the right side.
        UnsignedBySigned = "u8_by_i8",
        /// Four 8-bit integers, signed on the left side and unsigned on the right side.
        SignedByUnsigned = "i8_by_u8",
    }
}

impl Parts {
    /// Returns the packing for exchanged operands.
    #[must_use]
    pub const fn exchanged(self) -> Parts {
        match self {
            Parts::Whole => Parts::Whole,
            Parts::Halves => Parts::Halves,
            Parts::UnsignedBySigned => Parts::SignedByUnsigned,
            Parts::SignedByUnsigned => Parts::UnsignedBySigned,
        }
    }

    /// Returns the width of the integers and whether they are signed on the left and right side; `None` if nothing is
    /// packed.
    const fn bits_and_signs(self) -> Option<(u32, [bool; 2])> {
        match self {
            Parts::Whole => None,
            Parts::Halves => Some((16, [true, true])),
            Parts::UnsignedBySigned => Some((8, [false, true])),
            Parts::SignedByUnsigned => Some((8, [true, false])),
        }
    }

    /// Checks that elements of dtype `found` can hold the packed integers.
    ///
    /// # Errors
    ///
    /// E2005 another dtype.
    pub fn check(self, op: &'static str, found: DType) -> Result<(), VerifyError> {
        if self == Parts::Whole || found == DType::I32 {
            return Ok(());
        }
        Err(VerifyError::DType {
            op,
            operand: "lhs",
            found,
            supported: "i32 with `parts`",
        })
    }

    /// Unpacks two `i32` tensors along one axis of each, the lowest bits first; the extent of the axis grows by the
    /// number of integers in an element. `None` if nothing is packed.
    ///
    /// # Errors
    ///
    /// E6004 too large.
    pub fn split(
        self,
        cx: &EvalCx<'_>,
        tensors: [&Tensor; 2],
        axes: [usize; 2],
    ) -> Result<Option<[Tensor; 2]>, EvalError> {
        let Some((bits, [left, right])) = self.bits_and_signs() else {
            return Ok(None);
        };
        let lhs = split(cx, tensors[0], axes[0], (bits, left))?;
        let rhs = split(cx, tensors[1], axes[1], (bits, right))?;
        Ok(Some([lhs, rhs]))
    }
}

/// Unpacks integers of `bits` bits, signed or unsigned, along `axis` of an `i32` tensor.
fn split(
    cx: &EvalCx<'_>,
    tensor: &Tensor,
    axis: usize,
    (bits, is_signed): (u32, bool),
) -> Result<Tensor, EvalError> {
    let (count, mut shape) = (32 / bits, tensor.shape().to_vec());
    let inner: usize = shape[axis + 1..].iter().product();
    shape[axis] = shape[axis].saturating_mul(count as usize);
    let mut parts = Vec::with_capacity(cx.count(DType::I32, &shape)?);
    for row in tensor.elements::<i32>().chunks(inner.max(1)) {
        for part in 0..count {
            let numbers = row.iter().map(|&element| {
                let raised = element << (32 - bits * (part + 1));
                if is_signed {
                    raised >> (32 - bits)
                } else {
                    (raised as u32 >> (32 - bits)) as i32
                }
            });
            parts.extend(numbers);
        }
    }
    Ok(Tensor::of(shape, parts))
}
