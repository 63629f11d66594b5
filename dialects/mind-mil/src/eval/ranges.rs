//! Ranges of slices that are known at run time.

use mind_ir::eval::EvalError;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;

use super::kernel::operand;
use crate::call::{Call, integers};
use crate::infer::slice::{Range, between};

/// Returns the ranges of a slice of `x`.
pub(super) fn known_ranges(
    call: &Call<'_>,
    operands: &[&Tensor],
    x: &Tensor,
) -> Result<Vec<Range>, EvalError> {
    let dims = x.shape().iter().map(|&extent| Dim::Fixed(extent as i64));
    let dims: Vec<Dim> = dims.collect();
    let [begin, end] = ["begin", "end"].map(|name| integers(operand(call, operands, name)));
    let ranges = between(call, &dims, &begin, &end);
    let ranges = ranges.map_err(|error| EvalError::Shape(error.to_string()))?;
    ranges.ok_or(EvalError::NotEvaluable("a slice of extents that are open"))
}
