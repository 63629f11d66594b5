//! Grid sampling.

use mind_core::ops::sample::{GridCoordinates, GridPadding, GridSample, Interpolation, Layout};
use mind_loops::extents::known;
use mind_vir::program::{Algorithm, Between, Beyond, Coordinates, Sampling};

use super::{Call, count};

/// Returns the sampling that `call` evaluates; `None` if it evaluates another op.
pub(super) fn sampling(call: Call<'_>) -> Option<Algorithm> {
    let g = call.g;
    let op = g.view::<GridSample>(call.inner)?;
    let operands = call.op.inputs(g);
    let (image, grid) = (known(g, operands[0]), known(g, operands[1]));
    let axes = image.len() - 2;
    let (first, channels) = op.layout(g).image(axes);
    Some(Algorithm::Sample(Sampling {
        dtype: g.ty(operands[0]).dtype,
        grid: g.ty(operands[1]).dtype,
        images: image[0],
        points: count(&grid[1..=axes]),
        extents: image[first..first + axes].to_vec(),
        channels: image[channels],
        has_channels_last: match op.layout(g) {
            Layout::Nhwc => true,
            Layout::Nchw => false,
        },
        between: match op.mode(g) {
            Interpolation::Nearest => Between::Nearest,
            Interpolation::Linear => Between::Linear,
            Interpolation::Cubic => Between::Cubic,
        },
        coordinates: match op.coordinates(g) {
            GridCoordinates::HalfPixel => Coordinates::HalfPixel,
            GridCoordinates::AlignCorners => Coordinates::AlignCorners,
            GridCoordinates::Pixel => Coordinates::Pixel,
        },
        beyond: match (op.padding(g), op.coordinates(g)) {
            (GridPadding::Constant, _) => Beyond::Fill(op.fill(g).to_bits()),
            (GridPadding::Border, _) => Beyond::Border,
            (GridPadding::Symmetric, _) | (GridPadding::Reflect, GridCoordinates::HalfPixel) => {
                Beyond::MirrorEdges
            }
            (GridPadding::Reflect, GridCoordinates::AlignCorners | GridCoordinates::Pixel) => {
                Beyond::MirrorCentres
            }
        },
    }))
}
