//! Images at other places.

use mind_core::ops::sample::{
    Coordinates, GridCoordinates, GridPadding, GridSample, Interpolation, Layout, Resize, Rounding,
};
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, NarrowFloat};

use super::super::draft::{AttrDraft, Val};
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::{Form, Row};
use crate::refused::Refused;

pub(super) const ROWS: &[Row] = &[
    (
        Resize::DEF,
        Form::One(|op, e| resize(Resize::from_id(op), e)),
    ),
    (
        GridSample::DEF,
        Form::One(|op, e| grid_sample(GridSample::from_id(op), e)),
    ),
];

/// The word for coordinates, and the operator that has it.
fn coordinates(own: Coordinates) -> Result<(&'static str, &'static op::Operator), Refused> {
    Ok(match own {
        Coordinates::HalfPixel => ("half_pixel", op::RESIZE),
        Coordinates::PytorchHalfPixel => ("pytorch_half_pixel", op::RESIZE),
        Coordinates::HalfPixelSymmetric => ("half_pixel_symmetric", op::SYMMETRIC_RESIZE),
        Coordinates::Asymmetric => ("asymmetric", op::RESIZE),
        Coordinates::AlignCorners => ("align_corners", op::RESIZE),
        Coordinates::Crop => ("tf_crop_and_resize", op::RESIZE),
        Coordinates::AlignCentre | Coordinates::Offset | Coordinates::MilDefault => {
            let name = own.name();
            return Err(Refused::new(format!(
                "`Resize` has no coordinates `{name}`"
            )));
        }
    })
}

fn rounding(own: Rounding) -> &'static str {
    match own {
        Rounding::PreferFloor => "round_prefer_floor",
        Rounding::PreferCeil => "round_prefer_ceil",
        Rounding::Floor => "floor",
        Rounding::Ceil => "ceil",
    }
}

/// The inputs of a resize behind the image.
#[derive(Default)]
struct Targets {
    region: Option<Val>,
    scales: Option<Val>,
    sizes: Option<Val>,
}

fn resize(op: Resize, e: &mut Emit<'_>) -> One {
    let (word, mut operator) = coordinates(op.coordinates(e.g))?;
    let input = op.input(e.g);
    if op.axes(e.g).is_empty() {
        return Ok(e.value(input));
    }
    let mut axes = Vec::new();
    for &axis in op.axes(e.g) {
        axes.push(e.axis(axis, input));
    }
    let mode = op.mode(e.g);
    let mut attrs: Attrs = vec![("coordinate_transformation_mode", word.into())];
    attrs.push(match mode {
        Interpolation::Nearest => ("mode", "nearest".into()),
        Interpolation::Linear => ("mode", "linear".into()),
        Interpolation::Cubic => ("mode", "cubic".into()),
    });
    match mode {
        Interpolation::Nearest => attrs.push(("nearest_mode", rounding(op.nearest(e.g)).into())),
        Interpolation::Cubic => attrs.push(("cubic_coeff_a", narrow(op.cubic_a(e.g))?.into())),
        Interpolation::Linear => {}
    }
    if op.exclude_outside(e.g) {
        attrs.push(("exclude_outside", true.into()));
    }
    if op.antialias(e.g) {
        attrs.push(("antialias", true.into()));
        operator = later(operator, op::RESIZE_ALONG);
    }
    if op.fill(e.g) != 0.0 {
        attrs.push(("extrapolation_value", narrow(op.fill(e.g))?.into()));
    }
    let is_whole = axes.iter().copied().eq(0..e.rank(input));
    if !is_whole && e.opset >= op::RESIZE_ALONG.since() {
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        attrs.push(("axes", axes[..].into()));
    } else if !is_whole {
        if !axes.is_sorted() {
            operator = later(operator, op::RESIZE_ALONG);
        }
        axes = widened(op, e, &axes)?;
    }
    let targets = targets(op, e, &axes)?;
    let own = e.value(input);
    let mut inputs = vec![Some(own), targets.region, targets.scales, targets.sizes];
    while inputs.last() == Some(&None) {
        inputs.pop();
    }
    Ok(e.nodes(operator, &inputs, attrs, 1)?[0])
}

/// The operator that has the later form.
fn later(a: &'static op::Operator, b: &'static op::Operator) -> &'static op::Operator {
    if a.since() < b.since() { b } else { a }
}

/// A number as attributes of ONNX hold it.
fn narrow(number: f64) -> Result<f32, Refused> {
    let narrow = number as f32;
    if f64::from(narrow) == number {
        return Ok(narrow);
    }
    Err(Refused::new(format!(
        "attributes are of f32, which {number} is not"
    )))
}

/// All axes, for versions that know no lists of some of them.
fn widened(op: Resize, e: &Emit<'_>, axes: &[usize]) -> Result<Vec<usize>, Refused> {
    let input = op.input(e.g);
    let shape = e.shape(input);
    let has_numbers = op.scales(e.g).is_some();
    match shape {
        Ok(_) if !has_numbers => Ok((0..e.rank(input)).collect()),
        Ok(_) | Err(_) => {
            let since = op::RESIZE_ALONG.since();
            Err(Refused::new(format!(
                "`Resize` along {} axes alone is in opset {since} and later",
                axes.len()
            )))
        }
    }
}

/// The sizes that are asked for, or the numbers that stand for them.
fn targets(op: Resize, e: &mut Emit<'_>, axes: &[usize]) -> Result<Targets, Refused> {
    let input = op.input(e.g);
    let listed: Vec<usize> = {
        let own = op.axes(e.g).iter();
        own.map(|&axis| e.axis(axis, input)).collect()
    };
    let sizes: Vec<i64> = axes
        .iter()
        .map(|axis| match listed.iter().position(|own| own == axis) {
            Some(at) => op.sizes(e.g)[at],
            None => e.dims(input)[*axis].fixed().unwrap_or(0),
        })
        .collect();
    let Some(numbers) = op.scales(e.g) else {
        // The region is the whole image.
        let (mut region, is_crop) = (
            vec![0f32; axes.len()],
            op.coordinates(e.g) == Coordinates::Crop,
        );
        region.resize(2 * axes.len(), 1.0);
        let region = is_crop.then(|| e.tensor(&Tensor::of(vec![region.len()], region)));
        return Ok(Targets {
            region,
            sizes: Some(e.ints(&sizes)),
            scales: None,
        });
    };
    let known = e.known(numbers);
    let known = known.ok_or_else(|| Refused::new("its scales are no constant"))?;
    let wide = crate::tensor::converted(&known, DType::F64);
    let wide = wide.elements::<f64>();
    let single: Vec<f32> = wide
        .iter()
        .map(|&own| narrow(own))
        .collect::<Result<_, _>>()?;
    let single = Tensor::of(vec![single.len()], single);
    if op.coordinates(e.g) == Coordinates::Crop {
        return Ok(Targets {
            region: Some(e.tensor(&single)),
            sizes: Some(e.ints(&sizes)),
            scales: None,
        });
    }
    let shape = e.shape(input)?;
    let scaled = axes.iter().zip(wide);
    let scaled = scaled.map(|(&axis, scale)| (shape[axis] as f64 * scale).floor() as i64);
    if !scaled.eq(sizes.iter().copied()) {
        return Err(Refused::new("its sizes are not those that its scales give"));
    }
    Ok(Targets {
        scales: Some(e.tensor(&single)),
        ..Targets::default()
    })
}

fn grid_sample(op: GridSample, e: &mut Emit<'_>) -> One {
    let (input, grid) = (op.input(e.g), op.grid(e.g));
    let rank = e.rank(input);
    let operator = if rank == 4 {
        op::GRID_SAMPLE
    } else {
        op::GRID_SAMPLE_ND
    };
    let has_new_words = op::GRID_SAMPLE_ND.is_in(e.opset);
    let mode = match (op.mode(e.g), has_new_words) {
        (Interpolation::Nearest, _) => "nearest",
        (Interpolation::Linear, false) => "bilinear",
        (Interpolation::Linear, true) => "linear",
        (Interpolation::Cubic, false) => "bicubic",
        (Interpolation::Cubic, true) => "cubic",
    };
    let coordinates = op.coordinates(e.g);
    let aligned = match coordinates {
        GridCoordinates::HalfPixel => false,
        GridCoordinates::AlignCorners => true,
        GridCoordinates::Pixel => {
            return Err(Refused::new("`GridSample` has no coordinates `pixel`"));
        }
    };
    let padding = match op.padding(e.g) {
        GridPadding::Constant if op.fill(e.g) == 0.0 => "zeros",
        GridPadding::Border => "border",
        GridPadding::Reflect => "reflection",
        GridPadding::Symmetric if coordinates == GridCoordinates::HalfPixel => "reflection",
        GridPadding::Constant | GridPadding::Symmetric => {
            return Err(Refused::new(
                "`GridSample` pads with zeros, the border or its reflection",
            ));
        }
    };
    let attrs: Attrs = vec![
        ("mode", mode.into()),
        ("padding_mode", padding.into()),
        ("align_corners", AttrDraft::from(aligned)),
    ];
    let (from, of_grid) = (e.dtype(input), e.dtype(grid));
    let carrier = e.carrier(operator, from)?;
    let grid_carrier = match of_grid.narrow_float() {
        Some(NarrowFloat::BF16) => DType::F32,
        Some(NarrowFloat::F16) | None => of_grid,
    };
    let (mut image, places) = (e.value(input), e.value(grid));
    let places = e.cast(places, of_grid, grid_carrier)?;
    image = e.cast(image, from, carrier)?;
    let is_last = op.layout(e.g) == Layout::Nhwc;
    let rank = rank as i64;
    if is_last {
        let order: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        image = e.transpose(image, &order)?;
    }
    let mut own = e.node(operator, &[image, places], attrs)?;
    if is_last {
        let order: Vec<i64> = std::iter::once(0).chain(2..rank).chain([1]).collect();
        own = e.transpose(own, &order)?;
    }
    e.cast(own, carrier, from)
}
