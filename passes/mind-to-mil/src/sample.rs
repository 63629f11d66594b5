//! Lowers image resampling.

use mind_convert::Refusal;
use mind_core::axes::resolve;
use mind_core::ops::sample::{
    Coordinates, GridCoordinates, GridPadding, GridSample, Interpolation, Layout, Resize, Rounding,
};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::ops::image::{RESAMPLE, RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR};

use crate::emit::Argument::{Flag, Int, Number, Value, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::resize;

pub(crate) const ROWS: &[(&OpDef, Lower)] =
    &[(Resize::DEF, resize), (GridSample::DEF, grid_sample)];

/// The MIL op of a resize.
enum Sampling {
    /// `resize_nearest_neighbor`.
    Nearest,
    /// `resize_bilinear` with a `sampling_mode`.
    Bilinear(&'static str),
}

/// Returns the MIL op that samples as `op` does; `None` if there is none.
fn sampling(op: Resize, e: &Emit<'_, '_>) -> Option<Sampling> {
    let (g, is_one) = (e.g(), op.sizes(e.g()).contains(&1));
    let coordinates = op.coordinates(g);
    match op.mode(g) {
        Interpolation::Nearest => {
            let is_floor = op.nearest(g) == Rounding::Floor;
            (is_floor && coordinates == Coordinates::Asymmetric).then_some(Sampling::Nearest)
        }
        Interpolation::Linear if op.antialias(g) => None,
        Interpolation::Linear => {
            let word = match coordinates {
                Coordinates::AlignCentre => "ALIGN_CORNERS",
                Coordinates::AlignCorners => "STRICT_ALIGN_CORNERS",
                Coordinates::Offset => "OFFSET_CORNERS",
                Coordinates::HalfPixel => "UNALIGN_CORNERS",
                Coordinates::PytorchHalfPixel if !is_one => "UNALIGN_CORNERS",
                Coordinates::MilDefault => "DEFAULT",
                Coordinates::PytorchHalfPixel
                | Coordinates::HalfPixelSymmetric
                | Coordinates::Asymmetric
                | Coordinates::Crop => return None,
            };
            Some(Sampling::Bilinear(word))
        }
        Interpolation::Cubic => None,
    }
}

/// Lowers a resize of the last two dimensions of a float image of rank 3 or more to one op, and other resizes to sums
/// of slices.
fn resize(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = Resize::from_id(op);
    let (from, to) = (e.shape(view.input(e.g()))?, e.shape(e.g().result(op))?);
    match sampling(view, e).filter(|own| is_image(view, e, &from, own)) {
        Some(sampling) => resize_image(e, view, &sampling, &from, &to),
        None => resize::by_taps(e, view),
    }
}

/// Returns whether a MIL op can resize the axes of `op`, whose input has the shape `from`.
fn is_image(op: Resize, e: &Emit<'_, '_>, from: &[i64], sampling: &Sampling) -> bool {
    let g = e.g();
    let named = op.axes(g).iter();
    let named: Vec<usize> = named
        .filter_map(|&axis| resolve("resize", axis, from.len()).ok())
        .collect();
    let first = from.len().saturating_sub(2);
    // With `OFFSET_CORNERS`, an axis changes even if its extent stays.
    let is_identity = !matches!(sampling, Sampling::Bilinear("OFFSET_CORNERS"));
    let has_all = (first..from.len()).all(|axis| named.contains(&axis) || is_identity);
    let dtype = g.ty(op.input(g)).dtype;
    matches!(dtype, DType::F16 | DType::F32)
        && op.scales(g).is_none()
        && has_all
        && !named.is_empty()
        && named.iter().all(|&axis| axis >= first)
}

/// Resizes the last two dimensions of an image with one op.
fn resize_image(
    e: &mut Emit<'_, '_>,
    op: Resize,
    sampling: &Sampling,
    from: &[i64],
    to: &[i64],
) -> Lowered {
    let image = |shape: &[i64]| [&[1, 1, 1][..], shape].concat()[shape.len().min(3)..].to_vec();
    let (wide, end) = (image(from), image(to));
    let x = e.reshape(op.input(e.g()), &wide)?;
    let [height, width] = [end[end.len() - 2], end[end.len() - 1]];
    let mut args = vec![
        ("x", Value(x)),
        ("target_size_height", Int(height)),
        ("target_size_width", Int(width)),
    ];
    let row = match sampling {
        Sampling::Bilinear(word) => {
            args.push(("sampling_mode", Word(word)));
            &RESIZE_BILINEAR
        }
        Sampling::Nearest => &RESIZE_NEAREST_NEIGHBOR,
    };
    let y = e.op(row, &args)?;
    e.reshape(y, to)
}

/// Lowers to `resample` of `[N, C, H, W]`.
fn grid_sample(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = GridSample::from_id(op);
    let (mut x, grid) = (view.input(e.g()), view.grid(e.g()));
    floats(e, "GridSample", x)?;
    floats(e, "GridSample", grid)?;
    let g = e.g();
    if g.ty(x).rank() != 4 {
        return Err(Refusal::no_counterpart(
            "`resample` takes images of two dimensions",
        ));
    }
    let mode = match view.mode(g) {
        Interpolation::Nearest => "nearest",
        Interpolation::Linear => "bilinear",
        Interpolation::Cubic => return Err(Refusal::no_counterpart("`resample` has no cubics")),
    };
    let (coordinates, corners) = match view.coordinates(g) {
        GridCoordinates::Pixel => ("unnormalized", false),
        GridCoordinates::AlignCorners => ("normalized_minus_one_to_one", true),
        GridCoordinates::HalfPixel => ("normalized_minus_one_to_one", false),
    };
    let padding = match (view.padding(g), view.coordinates(g)) {
        (GridPadding::Constant, _) => "constant",
        (GridPadding::Border, _) => "border",
        (GridPadding::Symmetric, _) | (GridPadding::Reflect, GridCoordinates::HalfPixel) => {
            "symmetric"
        }
        (GridPadding::Reflect, GridCoordinates::AlignCorners | GridCoordinates::Pixel) => {
            "reflection"
        }
    };
    let (fill, is_last) = (view.fill(g), view.layout(g) == Layout::Nhwc);
    if is_last {
        x = e.transpose(x, &[0, 3, 1, 2])?;
    }
    let dtype = e.dtype(x);
    let y = e.op(
        &RESAMPLE,
        &[
            ("x", Value(x)),
            ("coordinates", Value(grid)),
            ("sampling_mode", Word(mode)),
            ("padding_mode", Word(padding)),
            ("padding_value", Number(fill, dtype)),
            ("coordinates_mode", Word(coordinates)),
            ("align_corners", Flag(corners)),
        ],
    )?;
    if is_last {
        e.transpose(y, &[0, 2, 3, 1])
    } else {
        Ok(y)
    }
}

fn floats(e: &Emit<'_, '_>, op: &str, x: ValueId) -> Result<(), Refusal> {
    match e.dtype(x) {
        DType::F16 | DType::F32 => Ok(()),
        dtype => Err(Refusal::no_counterpart(format!(
            "`{op}` of {dtype} has no counterpart"
        ))),
    }
}
