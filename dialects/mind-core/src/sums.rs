//! The dtypes that products are summed up in.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;

use crate::eval::convert::cast;

mind_ir::words! {
    /// The dtype that products are summed up in, which is that of the result.
    pub enum SumType {
        /// That of the operands.
        Same = "same",
        /// `f32`, of floats that are no wider.
        F32 = "f32",
        /// `f64`, of floats.
        F64 = "f64",
        /// `i32`, of integers of 8 or 16 bits.
        I32 = "i32",
        /// `i64`, of integers of 8 or 16 bits.
        I64 = "i64",
    }
}

/// The name and the dtype of each of two operands.
pub(crate) type Operands = [(&'static str, DType); 2];

impl SumType {
    /// The dtype that it names; `None` for that of the operands.
    pub fn dtype(self) -> Option<DType> {
        match self {
            SumType::Same => None,
            SumType::F32 => Some(DType::F32),
            SumType::F64 => Some(DType::F64),
            SumType::I32 => Some(DType::I32),
            SumType::I64 => Some(DType::I64),
        }
    }

    /// Whether products of operands of `dtype` may be summed up in it.
    pub fn takes(self, dtype: DType) -> bool {
        match self.dtype() {
            None => dtype != DType::Bool,
            Some(sum) if sum.is_float() => dtype.is_float() && dtype.size() <= sum.size(),
            Some(_) => dtype.is_int() && dtype.size() <= 2,
        }
    }

    /// The dtype of the result for operands of these dtypes.
    ///
    /// # Errors
    ///
    /// E2004 different dtypes, E2005 dtypes that are not summed up so.
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

    /// Verified operands in the dtype of the sums, which holds their numbers exactly.
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
