//! Gather and scatter.

use mind_ir::types::{DType, Dim, Shape};
use mind_ir::verify::InferManyResult;

use super::rule::{one, rank, typed};
use crate::call::{Call, integers};
use crate::eval::scatter::Mode;

/// `x[..axis] ++ indices[batch_dims..] ++ x[axis + 1..]`.
pub(crate) fn gather(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 1..=usize::MAX)?;
    let (x, indices) = (call.ty("x"), call.ty("indices"));
    let axis = call.axis(call.int("axis").unwrap_or(0), x.rank())?;
    let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).unwrap_or(usize::MAX);
    if batch > indices.rank() || batch > axis {
        return Err(call.refused(
            "batch_dims",
            &batch.to_string(),
            "at most the axis and the rank of `indices`",
        ));
    }
    if let (Some(given), Some(extent)) = (call.tensor("indices").known(), x.shape[axis].fixed())
        && let Some(index) = integers(&given)
            .into_iter()
            .find(|index| !(-extent..extent).contains(index))
    {
        return Err(call.refused(
            "indices",
            &index.to_string(),
            &format!("from {} to {}", -extent, extent - 1),
        ));
    }
    let mut shape: Shape = x.shape[..axis].iter().copied().collect();
    shape.extend(indices.shape[batch..].iter().copied());
    shape.extend(x.shape[axis + 1..].iter().copied());
    typed(x.dtype, shape)
}

/// Returns the shape of `indices`.
pub(crate) fn along_axis(call: &Call<'_>) -> InferManyResult {
    let (x, indices) = (call.ty("x"), call.ty("indices"));
    call.axis(call.int("axis").unwrap_or(0), x.rank())?;
    rank(call, "indices", x.rank()..=x.rank())?;
    one(x.with_shape(indices.shape.iter().copied()))
}

/// `indices[..-1] ++ x[indices[-1]..]`.
pub(crate) fn nd(call: &Call<'_>) -> InferManyResult {
    let (x, indices) = (call.ty("x"), call.ty("indices"));
    let depth = indices.shape.last().and_then(|dim| dim.fixed());
    let batch = usize::try_from(call.int("batch_dims").unwrap_or(0)).unwrap_or(usize::MAX);
    let Some(depth) = depth.and_then(|depth| usize::try_from(depth).ok()) else {
        return super::rule::declared(call);
    };
    if depth.saturating_add(batch) > x.rank() || batch >= indices.rank() {
        return Err(call.refused(
            "indices",
            &format!("{depth} deep"),
            "at most as deep as `x`",
        ));
    }
    let mut shape: Shape = indices.shape[..indices.rank() - 1]
        .iter()
        .copied()
        .collect();
    shape.extend(x.shape[batch + depth..].iter().copied());
    typed(x.dtype, shape)
}

/// Returns the type of the list of positions of nonzero elements, one row per element.
pub(crate) fn non_zero(call: &Call<'_>) -> InferManyResult {
    let rank = call.ty("x").rank() as i64;
    typed(
        DType::I32,
        [Dim::Dynamic, Dim::Fixed(rank)].into_iter().collect(),
    )
}

/// Returns the type of `data`.
pub(crate) fn scatter(call: &Call<'_>) -> InferManyResult {
    Mode::of(call)?;
    one(call.ty("data").to_owned())
}
