//! Two integers of 16 bits in one of 32.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::verify::VerifyError;

/// Checks that an op on halves works on `i32`.
///
/// # Errors
///
/// E2005 another dtype.
pub fn check_halves(op: &'static str, found: DType, halves: bool) -> Result<(), VerifyError> {
    if !halves || found == DType::I32 {
        return Ok(());
    }
    Err(VerifyError::DType {
        op,
        operand: "lhs",
        found,
        supported: "i32 with `halves`",
    })
}

/// The halves of the elements of a tensor of `i32` as numbers: twice as many along `axis`, the lower half first.
///
/// # Errors
///
/// E6004 too large.
pub fn split_halves(cx: &EvalCx<'_>, tensor: &Tensor, axis: usize) -> Result<Tensor, EvalError> {
    let mut shape = tensor.shape().to_vec();
    let inner: usize = shape[axis + 1..].iter().product();
    shape[axis] = shape[axis].saturating_mul(2);
    let count = cx.count(DType::I32, &shape)?;
    let mut halves = Vec::with_capacity(count);
    for row in tensor.elements::<i32>().chunks(inner.max(1)) {
        halves.extend(row.iter().map(|&pair| i32::from(pair as i16)));
        halves.extend(row.iter().map(|&pair| pair >> 16));
    }
    Ok(Tensor::of(shape, halves))
}
