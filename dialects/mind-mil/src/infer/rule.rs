//! Helpers of type rules.

use mind_ir::types::{DType, Dim, Shape, TensorType, TypeView, shape_text};
use mind_ir::verify::{InferManyResult, VerifyError};
use smallvec::smallvec;

use mind_ir::opdef::Inferred;

use crate::call::Call;

/// Returns the type of a single result.
pub(crate) fn one(ty: TensorType) -> InferManyResult {
    Ok(smallvec![Inferred::New(ty)])
}

/// Returns the declared type, for results whose shape depends on data.
pub(crate) fn declared(call: &Call<'_>) -> InferManyResult {
    let results = call.g.results(call.op).into_iter();
    Ok(results.map(|_| Inferred::Declared).collect())
}

/// Returns the type of a single result of `dtype` and `shape`.
pub(crate) fn typed(dtype: DType, shape: Shape) -> InferManyResult {
    one(TensorType { dtype, shape })
}

/// Returns the broadcast shape.
///
/// # Errors
///
/// Returns E3001 if the shapes are not compatible.
pub(crate) fn joined(call: &Call<'_>, a: &[Dim], b: &[Dim]) -> Result<Shape, Box<VerifyError>> {
    mind_ir::types::broadcast(a, b)
        .map_err(|clash| Box::new(VerifyError::broadcast(call.g, a, b, clash)))
}

/// Checks that the rank is one of `ranks`.
///
/// # Errors
///
/// Returns E3002 if it is not.
pub(crate) fn rank(
    call: &Call<'_>,
    name: &'static str,
    ranks: std::ops::RangeInclusive<usize>,
) -> Result<(), Box<VerifyError>> {
    let found = call.ty(name).rank();
    if ranks.contains(&found) {
        return Ok(());
    }
    let expected = match (*ranks.start(), *ranks.end()) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    Err(Box::new(VerifyError::Rank {
        op: call.name,
        operand: name,
        expected,
        found,
    }))
}

/// Checks that both extents can be equal.
///
/// # Errors
///
/// Returns E3003 if they differ.
pub(crate) fn agree(
    call: &Call<'_>,
    dimension: &str,
    expected: Dim,
    found: Dim,
) -> Result<Dim, Box<VerifyError>> {
    let symbols = call.g.symbols();
    expected.meet(found).ok_or_else(|| {
        Box::new(VerifyError::Extent {
            op: call.name,
            dimension: dimension.to_owned(),
            expected: expected.display(symbols).to_string(),
            found: found.display(symbols).to_string(),
            help: "reshape or transpose one of the arguments, so that both extents are equal",
        })
    })
}

/// Checks that all computed extents are positive.
///
/// # Errors
///
/// Returns E3006 if one is not.
pub(crate) fn positive(call: &Call<'_>, shape: &Shape) -> Result<(), Box<VerifyError>> {
    match shape.iter().position(|dim| matches!(dim, Dim::Fixed(..=0))) {
        Some(dimension) => Err(Box::new(VerifyError::NotPositive {
            shape: shape_text(shape, call.g.symbols()),
            dimension,
            value: shape[dimension].fixed().unwrap_or(0),
        })),
        None => Ok(()),
    }
}

/// Applies `change` to `dim` if it is known.
pub(crate) fn mapped(dim: Dim, change: impl Fn(i64) -> Option<i64>) -> Dim {
    dim.fixed()
        .and_then(change)
        .map_or(Dim::Dynamic, Dim::Fixed)
}

/// Returns the shape of a type as text.
pub(crate) fn text(call: &Call<'_>, ty: TypeView<'_>) -> String {
    shape_text(ty.shape, call.g.symbols())
}
