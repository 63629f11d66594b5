//! Resizing of height and width.

use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};

use super::rule::{declared, rank, typed};
use super::sample::grid;
use crate::call::Call;

/// Multiplies the last two dimensions. The product rounds to a single, as that of coremltools does: 1.4 times 5 is 7,
/// though the single 1.4 is less than 1.4.
pub(crate) fn upsample(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=usize::MAX)?;
    let factors = ["scale_factor_height", "scale_factor_width"].map(|name| {
        let integer = call.int(name).map(|factor| factor as f64);
        call.float(name).or(integer).unwrap_or(1.0)
    });
    spatial(call, |at, extent| {
        Some((extent as f32 * factors[at] as f32).floor() as i64)
    })
}

/// Sets the last two dimensions to the given extents.
pub(crate) fn target(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=usize::MAX)?;
    let named = ["target_size_height", "target_size_width"].map(|name| call.int(name));
    spatial(call, |at, _| named[at])
}

fn spatial(call: &Call<'_>, extent: impl Fn(usize, i64) -> Option<i64>) -> InferManyResult {
    let x = call.ty("x");
    let mut shape: Shape = x.shape.iter().copied().collect();
    let first = shape.len() - 2;
    for at in 0..2 {
        let Some(own) = shape[first + at].fixed() else {
            return declared(call);
        };
        match extent(at, own) {
            Some(new @ 1..) => shape[first + at] = Dim::Fixed(new),
            _ => return Err(nothing_left(call)),
        }
    }
    typed(x.dtype, shape)
}

/// Samples images `[N, C, H, W]` at coordinates `[N, Ho, Wo, 2]`.
pub(crate) fn resample(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 4..=4)?;
    rank(call, "coordinates", 4..=4)?;
    grid(call)?;
    let (x, coordinates) = (call.ty("x"), call.ty("coordinates"));
    let mut shape: Shape = x.shape.iter().copied().collect();
    shape[2..].copy_from_slice(&coordinates.shape[1..3]);
    typed(x.dtype, shape)
}

/// Crops height and width at both ends.
pub(crate) fn crop(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=usize::MAX)?;
    let cuts =
        ["crop_height", "crop_width"].map(|name| call.ints(name).known().unwrap_or_default());
    spatial(call, |at, extent| {
        Some(extent - cuts[at].iter().sum::<i64>())
    })
}

/// Sets the last `resized_dims` dimensions to the end of `shape`; 0 keeps an extent.
///
/// # Errors
///
/// Returns E4108 for a negative extent or more dimensions than the rank.
pub(crate) fn resize(call: &Call<'_>) -> InferManyResult {
    let (Some(named), Some(resized)) = (call.ints("shape").known(), call.int("resized_dims"))
    else {
        return declared(call);
    };
    let x = call.ty("x");
    let resized = usize::try_from(resized).ok();
    let Some(resized) = resized.filter(|&own| own <= named.len() && own <= x.rank()) else {
        let found = call.int("resized_dims").unwrap_or(0).to_string();
        return Err(call.refused(
            "resized_dims",
            &found,
            "at most the rank, and the length of `shape`",
        ));
    };
    let mut shape: Shape = x.shape.iter().copied().collect();
    let first = shape.len() - resized;
    for (dim, &new) in shape[first..]
        .iter_mut()
        .zip(&named[named.len() - resized..])
    {
        match new {
            0 => {}
            1.. => *dim = Dim::Fixed(new),
            _ => return Err(call.refused("shape", &new.to_string(), "0 or positive")),
        }
    }
    typed(x.dtype, shape)
}

fn nothing_left(call: &Call<'_>) -> Box<VerifyError> {
    let problem = format!("`{}` leaves no position", call.name);
    Box::new(VerifyError::Structure { problem })
}
