//! Normalisations.

use mind_ir::types::Dim;
use mind_ir::verify::{InferManyResult, VerifyError};

use super::elementwise::same;
use super::rule::{agree, rank};
use crate::call::{ArgState, Call, floats};

/// `gamma` and `beta` have the shape of the normalised dimensions.
pub(crate) fn layer(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => call.axes(&axes, x.rank())?,
        _ => (0..x.rank()).collect(),
    };
    let mut axes = axes;
    axes.sort_unstable();
    let dims: Vec<Dim> = axes.iter().map(|&axis| x.shape[axis]).collect();
    for name in ["gamma", "beta"] {
        if call.value(name).is_some() {
            let ty = call.ty(name);
            call.length(name, ty.rank(), dims.len())?;
            for (at, (&own, &dim)) in ty.shape.iter().zip(&dims).enumerate() {
                agree(call, &format!("`{name}` at dimension {at}"), dim, own)?;
            }
        }
    }
    same(call)
}

/// `mean` and `variance`, `gamma` and `beta` have one entry per channel.
pub(crate) fn batch(call: &Call<'_>) -> InferManyResult {
    channels(call, 3..=5, &["mean", "variance", "gamma", "beta"])?;
    if let ArgState::Known(variance) = call.tensor("variance")
        && let Some(least) = floats(&variance).into_iter().find(|&entry| entry < 0.0)
    {
        return Err(call.refused("variance", &least.to_string(), "not negative"));
    }
    same(call)
}

/// `gamma` and `beta` have one entry per channel.
pub(crate) fn instance(call: &Call<'_>) -> InferManyResult {
    channels(call, 3..=4, &["gamma", "beta"])?;
    same(call)
}

fn channels(
    call: &Call<'_>,
    ranks: std::ops::RangeInclusive<usize>,
    names: &[&'static str],
) -> Result<(), Box<VerifyError>> {
    rank(call, "x", ranks)?;
    let channels = call.ty("x").shape[1];
    for &name in names {
        if call.value(name).is_some() {
            rank(call, name, 1..=1)?;
            let own = call.ty(name).shape[0];
            agree(call, &format!("`{name}` and the channels"), channels, own)?;
        }
    }
    Ok(())
}

/// Normalises over the last three dimensions.
pub(crate) fn l2(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=usize::MAX)?;
    same(call)
}
