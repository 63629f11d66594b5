//! Several integers in one of 32 bits.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;

mind_ir::words! {
    /// The integers that an element of each side of a product holds, the lowest first.
    pub enum Parts {
        /// The element itself.
        Whole = "whole",
        /// Two integers of 16 bits with a sign.
        Halves = "halves",
        /// Four bytes: those of the left side have no sign, those of the right side have one.
        UnsignedBySigned = "u8_by_i8",
        /// Four bytes: those of the left side have a sign, those of the right side have none.
        SignedByUnsigned = "i8_by_u8",
    }
}

impl Parts {
    /// Those of the same product with its sides exchanged.
    #[must_use]
    pub const fn exchanged(self) -> Parts {
        match self {
            Parts::Whole => Parts::Whole,
            Parts::Halves => Parts::Halves,
            Parts::UnsignedBySigned => Parts::SignedByUnsigned,
            Parts::SignedByUnsigned => Parts::UnsignedBySigned,
        }
    }

    /// Bits of a part, and whether those of the left and of the right side have a sign; `None` for the element itself.
    const fn bits_and_signs(self) -> Option<(u32, [bool; 2])> {
        match self {
            Parts::Whole => None,
            Parts::Halves => Some((16, [true, true])),
            Parts::UnsignedBySigned => Some((8, [false, true])),
            Parts::SignedByUnsigned => Some((8, [true, false])),
        }
    }

    /// Checks that elements of `found` hold these parts.
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

    /// The parts of the elements of two tensors of `i32` as numbers: as many times more along the axis of each, the
    /// lowest part first. `None` for the elements themselves.
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

/// The integers of `bits` bits, signed or unsigned, that are packed in the elements of an `i32` tensor.
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
