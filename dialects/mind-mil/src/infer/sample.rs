//! Translates the arguments of resizing ops to those of core.

use mind_core::ops::sample::{
    Coordinates, Filter, GridCoordinates, GridPadding, GridSampling, Interpolation, Rounding,
};
use mind_ir::verify::VerifyError;

use crate::call::Call;

/// Returns the sampling mode of an op that interpolates linearly.
///
/// Source: Core ML MIL, `resize_bilinear`, "Notes".
fn coordinates(call: &Call<'_>) -> Coordinates {
    if call.name == "upsample_bilinear" {
        let halves = call.value("half_pixel_centers");
        return match (call.flag("align_corners"), halves) {
            (true, _) => Coordinates::AlignCorners,
            (false, Some(_)) if !call.flag("half_pixel_centers") => Coordinates::MilDefault,
            _ => Coordinates::HalfPixel,
        };
    }
    match call.word("sampling_mode") {
        "ALIGN_CORNERS" => Coordinates::AlignCentre,
        "STRICT_ALIGN_CORNERS" => Coordinates::AlignCorners,
        "OFFSET_CORNERS" => Coordinates::Offset,
        "UNALIGN_CORNERS" => Coordinates::HalfPixel,
        _ => Coordinates::MilDefault,
    }
}

/// Returns how an op samples the dimensions that it resizes.
///
/// # Errors
///
/// Errors if the result depends on a tie between nearest elements that the op's reference leaves open.
pub fn filter(call: &Call<'_>) -> Result<Filter, Box<VerifyError>> {
    let is_nearest = call.name.ends_with("nearest_neighbor")
        || call.word("interpolation_mode") == "NEAREST_NEIGHBOR";
    let word = call.word("sampling_mode");
    if is_nearest && !["", "DEFAULT"].contains(&word) {
        return Err(call.refused("sampling_mode", word, "DEFAULT for nearest elements"));
    }
    let (mode, coordinates) = if is_nearest {
        (Interpolation::Nearest, Coordinates::Asymmetric)
    } else {
        (Interpolation::Linear, coordinates(call))
    };
    Ok(Filter {
        mode,
        coordinates,
        nearest: Rounding::Floor,
        cubic_a: -0.75,
        exclude_outside: false,
        antialias: false,
        fill: 0.0,
    })
}

/// Returns the dimensions that an op resizes: the last two, or for `resize` as many as it gives.
pub fn dimensions(call: &Call<'_>, rank: usize) -> std::ops::Range<usize> {
    let count = match call.name {
        "resize" => usize::try_from(call.int("resized_dims").unwrap_or(0)).unwrap_or(0),
        _ => 2,
    };
    rank.saturating_sub(count)..rank
}

/// Returns how `resample` interprets its coordinates, and whether they are normalised to 0 to 1.
///
/// # Errors
///
/// Errors for an invalid word, or for a reflection mode that the op's reference leaves open.
pub fn grid(call: &Call<'_>) -> Result<(GridSampling, bool), Box<VerifyError>> {
    let mode = match call.word("sampling_mode") {
        "nearest" => Interpolation::Nearest,
        "bilinear" => Interpolation::Linear,
        word => return Err(call.refused("sampling_mode", word, "nearest or bilinear")),
    };
    let corners = match call.flag("align_corners") {
        true => GridCoordinates::AlignCorners,
        false => GridCoordinates::HalfPixel,
    };
    let (coordinates, from_zero) = match call.word("coordinates_mode") {
        "unnormalized" => (GridCoordinates::Pixel, false),
        "normalized_minus_one_to_one" => (corners, false),
        "normalized_zero_to_one" => (corners, true),
        word => {
            let words = "unnormalized, normalized_minus_one_to_one or normalized_zero_to_one";
            return Err(call.refused("coordinates_mode", word, words));
        }
    };
    let padding = match call.word("padding_mode") {
        "constant" => GridPadding::Constant,
        "border" => GridPadding::Border,
        "symmetric" => GridPadding::Symmetric,
        "reflection" if coordinates != GridCoordinates::HalfPixel => GridPadding::Reflect,
        word => {
            let words = "constant, border or symmetric, or reflection about centres";
            return Err(call.refused("padding_mode", word, words));
        }
    };
    let sampling = GridSampling {
        mode,
        coordinates,
        padding,
        fill: call.float("padding_value").unwrap_or(0.0),
    };
    Ok((sampling, from_zero))
}
