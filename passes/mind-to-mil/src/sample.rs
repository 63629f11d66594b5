//! Images at other places.

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
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&OpDef, Lower)] =
    &[(Resize::DEF, resize), (GridSample::DEF, grid_sample)];

/// The `sampling_mode` of lines between elements; nothing for nearest elements.
fn sampling_mode(op: Resize, e: &Emit<'_, '_>) -> Result<Option<&'static str>, Box<Refused>> {
    let (g, is_one) = (e.g(), op.sizes(e.g()).contains(&1));
    let word = match (op.mode(g), op.coordinates(g)) {
        (Interpolation::Nearest, Coordinates::Asymmetric) if op.nearest(g) == Rounding::Floor => {
            return Ok(None);
        }
        (Interpolation::Linear, _) if op.antialias(g) => None,
        (Interpolation::Linear, Coordinates::AlignCentre) => Some("ALIGN_CORNERS"),
        (Interpolation::Linear, Coordinates::AlignCorners) => Some("STRICT_ALIGN_CORNERS"),
        (Interpolation::Linear, Coordinates::Offset) => Some("OFFSET_CORNERS"),
        (Interpolation::Linear, Coordinates::HalfPixel) => Some("UNALIGN_CORNERS"),
        (Interpolation::Linear, Coordinates::PytorchHalfPixel) if !is_one => {
            Some("UNALIGN_CORNERS")
        }
        (Interpolation::Linear, Coordinates::MilDefault) => Some("DEFAULT"),
        (Interpolation::Nearest | Interpolation::Linear | Interpolation::Cubic, _) => None,
    };
    let refused = || {
        Refused::new(format!(
            "MIL does not resize with mode `{}` and coordinates `{}` so",
            op.mode(g).name(),
            op.coordinates(g).name()
        ))
    };
    word.map(Some).ok_or_else(refused)
}

/// The last two dimensions of an image of rank 3 or more.
fn resize(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = Resize::from_id(op);
    let x = view.input(e.g());
    floats(e, "Resize", x)?;
    let word = sampling_mode(view, e)?;
    if view.scales(e.g()).is_some() {
        return Err(Refused::new("MIL resizes to extents, not by scales"));
    }
    let (from, to) = (e.shape(x)?, e.shape(e.g().result(op))?);
    let mut named = Vec::new();
    for &axis in view.axes(e.g()) {
        named.push(resolve("resize", axis, from.len())?);
    }
    let first = from.len().saturating_sub(2);
    let is_identity = word != Some("OFFSET_CORNERS");
    let all = (first..from.len()).all(|axis| named.contains(&axis) || is_identity);
    if !all || named.iter().any(|&axis| axis < first) || named.is_empty() {
        return Err(Refused::new("MIL resizes the last two dimensions"));
    }
    let image = |shape: &[i64]| [&[1, 1, 1][..], shape].concat()[shape.len().min(3)..].to_vec();
    let (wide, end) = (image(&from), image(&to));
    let x = e.reshape(x, &wide)?;
    let [height, width] = [end[end.len() - 2], end[end.len() - 1]];
    let mut args = vec![
        ("x", Value(x)),
        ("target_size_height", Int(height)),
        ("target_size_width", Int(width)),
    ];
    let row = match word {
        Some(word) => {
            args.push(("sampling_mode", Word(word)));
            &RESIZE_BILINEAR
        }
        None => &RESIZE_NEAREST_NEIGHBOR,
    };
    let y = e.op(row, &args)?;
    e.reshape(y, &to)
}

/// `resample` of `[N, C, H, W]`.
fn grid_sample(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let view = GridSample::from_id(op);
    let (mut x, grid) = (view.input(e.g()), view.grid(e.g()));
    floats(e, "GridSample", x)?;
    floats(e, "GridSample", grid)?;
    let g = e.g();
    if g.ty(x).rank() != 4 {
        return Err(Refused::new("`resample` takes images of two dimensions"));
    }
    let mode = match view.mode(g) {
        Interpolation::Nearest => "nearest",
        Interpolation::Linear => "bilinear",
        Interpolation::Cubic => return Err(Refused::new("`resample` has no cubics")),
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

fn floats(e: &Emit<'_, '_>, op: &str, x: ValueId) -> Result<(), Box<Refused>> {
    match e.dtype(x) {
        DType::F16 | DType::F32 => Ok(()),
        dtype => Err(Refused::new(format!(
            "`{op}` of {dtype} has no counterpart"
        ))),
    }
}
