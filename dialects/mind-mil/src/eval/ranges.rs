//! The ranges of slices, once a run knows them.

use mind_ir::eval::EvalError;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;

use crate::call::Call;
use crate::infer::slice::{Range, ranges};

/// The ranges of a slice of `x`.
pub(super) fn known_ranges(call: &Call<'_>, x: &Tensor) -> Result<Vec<Range>, EvalError> {
    let dims = x.shape().iter().map(|&extent| Dim::Fixed(extent as i64));
    let dims: Vec<Dim> = dims.collect();
    let ranges = ranges(call, &dims).map_err(|error| EvalError::Shape(error.to_string()))?;
    ranges.ok_or(EvalError::NotEvaluable(
        "a slice whose bounds only a run knows",
    ))
}
