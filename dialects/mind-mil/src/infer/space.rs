//! Space-to-batch, batch-to-space and sliding windows.

use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};

use super::rule::{declared, mapped, positive, rank, typed};
use crate::call::Call;

/// Height and width of a block, and the crops or paddings of both ends.
type Block = ([i64; 2], [i64; 4]);

/// Returns the extents of a block, and the crops or paddings of height and width.
///
/// # Errors
///
/// Returns E4108 for an extent that is not positive or a negative crop or padding, and E4109 for lists of another
/// length.
fn block(call: &Call<'_>, around: &'static str) -> Result<Option<Block>, Box<VerifyError>> {
    let list = |name: &'static str, count: usize, least: i64| {
        let Some(entries) = call.ints(name).known() else {
            return Ok(None);
        };
        call.length(name, entries.len(), count)?;
        match entries
            .iter()
            .find(|&&own| !(least..=1 << 20).contains(&own))
        {
            Some(own) => Err(call.refused(name, &own.to_string(), &format!("at least {least}"))),
            None => Ok(Some(entries)),
        }
    };
    let (sizes, ends) = (list("block_shape", 2, 1)?, list(around, 4, 0)?);
    Ok(sizes
        .zip(ends)
        .map(|(sizes, ends)| ([sizes[0], sizes[1]], [ends[0], ends[1], ends[2], ends[3]])))
}

/// `[N, C, H, W]` to `[N / (p q), C, H p - crops, W q - crops]`.
pub(crate) fn from_batch(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 4..=4)?;
    let Some(([p, q], ends)) = block(call, "crops")? else {
        return declared(call);
    };
    let x = call.ty("x");
    let batch = x.shape[0].fixed();
    if batch.is_some_and(|batch| batch % (p * q) != 0) {
        let found = format!("{p} by {q} for {} batches", batch.unwrap_or(0));
        return Err(call.refused("block_shape", &found, "a divisor of the batches"));
    }
    let spread = |dim: Dim, size: i64, ends: &[i64]| {
        mapped(dim, |extent| {
            Some(extent.checked_mul(size)? - ends[0] - ends[1])
        })
    };
    let shape: Shape = [
        mapped(x.shape[0], |batch| Some(batch / (p * q))),
        x.shape[1],
        spread(x.shape[2], p, &ends[..2]),
        spread(x.shape[3], q, &ends[2..]),
    ]
    .into_iter()
    .collect();
    positive(call, &shape)?;
    typed(x.dtype, shape)
}

/// `[N, C, H, W]` to `[N p q, C, (H + paddings) / p, (W + paddings) / q]`.
pub(crate) fn to_batch(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 4..=4)?;
    let Some((sizes, ends)) = block(call, "paddings")? else {
        return declared(call);
    };
    let x = call.ty("x");
    let mut shape: Shape = x.shape.iter().copied().collect();
    shape[0] = mapped(x.shape[0], |batch| batch.checked_mul(sizes[0] * sizes[1]));
    for at in 0..2 {
        let around = ends[2 * at] + ends[2 * at + 1];
        let padded = x.shape[2 + at].fixed().map(|extent| extent + around);
        if let Some(padded) = padded.filter(|padded| padded % sizes[at] != 0) {
            let found = format!("{} for an extent of {padded}", sizes[at]);
            return Err(call.refused("block_shape", &found, "a divisor of the padded extent"));
        }
        shape[2 + at] = padded.map_or(Dim::Dynamic, |padded| Dim::Fixed(padded / sizes[at]));
    }
    typed(x.dtype, shape)
}

/// `x[..axis] ++ [windows, size] ++ x[axis + 1..]`.
pub(crate) fn sliding(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axis = call.axis(call.int("axis").unwrap_or(0), x.rank())?;
    let positive = |name: &str, default: i64| match call.int(name).unwrap_or(default) {
        own @ 1.. => Ok(own),
        own => Err(call.refused(name, &own.to_string(), "positive")),
    };
    let (size, stride) = (positive("size", 1)?, positive("stride", 1)?);
    if let Some(extent) = x.shape[axis].fixed().filter(|&extent| extent < size) {
        return Err(call.refused(
            "size",
            &size.to_string(),
            &format!("at most the extent {extent}"),
        ));
    }
    let mut shape: Shape = x.shape.iter().copied().collect();
    shape[axis] = mapped(x.shape[axis], |extent| Some((extent - size) / stride + 1));
    shape.insert(axis + 1, Dim::Fixed(size));
    typed(x.dtype, shape)
}
