//! Accumulator dtypes of products.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;

use crate::eval::convert::cast;

mind_ir::words! {
    /// The dtype in which products are accumulated, which is that of the result.
    pub enum SumType {
        /// The dtype of the operands.
        Same = "same",
        /// `f32`, for floats of at most 32 bits.
        F32 = "f32",
        /// `f64`, for floats.
        F64 = "f64",
        /// `i32`, for integers of 8 or 16 bits.
        I32 = "i32",
        /// `i64`, for integers of 8 or 16 bits.
        I64 = "i64",
    }
}

/// The names and dtypes of two operands.
pub(crate) type Operands = [(&'static str, DType); 2];

impl SumType {
    /// Returns the dtype; `None` for that of the operands.
    pub fn dtype(self) -> Option<DType> {
        match self {
            SumType::Same => None,
            SumType::F32 => Some(DType::F32),
            SumType::F64 => Some(DType::F64),
            SumType::I32 => Some(DType::I32),
            SumType::I64 => Some(DType::I64),
        }
    }

    /// Returns whether products of operands of `dtype` can be accumulated in it.
    pub fn takes(self, dtype: DType) -> bool {
        match self.dtype() {
            None => dtype != DType::Bool,
            Some(sum) if sum.is_float() => dtype.is_float() && dtype.size() <= sum.size(),
            Some(_) => dtype.is_int() && dtype.size() <= 2,
        }
    }

    /// Returns the dtype of the result for operands of these dtypes.
    ///
    /// # Errors
    ///
    /// E2004 different dtypes, E2005 dtypes that it does not accumulate.
    pub(crate) fn resolve(
        self,
        op: &'static str,
        operands: Operands,
    ) -> Result<DType, VerifyError> {
        if let Some((operand, found)) = operands.into_iter().find(|own| !self.takes(own.1)) {
            return Err(VerifyError::DType {
                op,
                operand,
                found,
                supported: "floats for a wider float, integers of 8 or 16 bits for i32 and i64",
            });
        }
        let [lhs, rhs] = operands.map(|(_, dtype)| dtype);
        let mixes = self != SumType::Same && lhs.is_int() && lhs.size() == 1 && rhs.size() == 1;
        if lhs == rhs || mixes {
            Ok(self.dtype().unwrap_or(lhs))
        } else {
            Err(VerifyError::DTypeClash { op, lhs, rhs })
        }
    }

    /// Converts verified operands to the accumulator dtype, which represents their elements exactly.
    ///
    /// # Errors
    ///
    /// E6004 too large.
    pub(crate) fn widened(
        self,
        cx: &EvalCx<'_>,
        operands: [&Tensor; 2],
    ) -> Result<[Tensor; 2], EvalError> {
        let wide = |tensor: &Tensor| match self.dtype() {
            Some(dtype) if dtype != tensor.dtype() => cast(cx, tensor, dtype),
            Some(_) | None => Ok(tensor.clone()),
        };
        let [lhs, rhs] = operands;
        Ok([wide(lhs)?, wide(rhs)?])
    }
}
