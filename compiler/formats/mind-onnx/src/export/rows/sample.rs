//! Exports resizes and samples at coordinates.

use mind_convert::Refusal;
use mind_core::ops::sample::{
    Coordinates, GridCoordinates, GridPadding, GridSample, Interpolation, Layout, Resize, Rounding,
    Sample,
};
use mind_ir::ValueId;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, NarrowFloat};

use super::super::draft::{AttrDraft, Val};
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::{Form, Row};
use crate::operators::reads_as;

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

/// Returns the name of a coordinate mode, and the operator form that has it.
fn coordinates(own: Coordinates) -> Result<(&'static str, &'static op::Operator), Refusal> {
    Ok(match own {
        Coordinates::HalfPixel => ("half_pixel", op::RESIZE),
        Coordinates::PytorchHalfPixel => ("pytorch_half_pixel", op::RESIZE),
        Coordinates::HalfPixelSymmetric => ("half_pixel_symmetric", op::SYMMETRIC_RESIZE),
        Coordinates::Asymmetric => ("asymmetric", op::RESIZE),
        Coordinates::AlignCorners => ("align_corners", op::RESIZE),
        Coordinates::Crop => ("tf_crop_and_resize", op::RESIZE),
        Coordinates::AlignCentre | Coordinates::Offset | Coordinates::MilDefault => {
            let found = format!("`{}`", own.name());
            return Err(Refusal::form(
                "`coordinates`",
                found,
                "`half_pixel`, `pytorch_half_pixel`, `half_pixel_symmetric`, `asymmetric`, `align_corners` or `crop`",
            ));
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

/// The inputs of a resize after the image, and the attribute that determines the meaning of `sizes`.
#[derive(Default)]
struct Targets {
    region: Option<Val>,
    scales: Option<Val>,
    sizes: Option<Val>,
    policy: Option<&'static str>,
}

fn resize(op: Resize, e: &mut Emit<'_>) -> One {
    let input = op.input(e.g);
    let dtype = e.dtype(input);
    if op.axes(e.g).is_empty() {
        return Ok(e.value(input));
    }
    // Interpolated integers are rounded to their dtype, which a wider dtype would not do.
    let carrier = match op.mode(e.g) {
        Interpolation::Nearest => e.possible_carrier(op::RESIZE, dtype)?,
        Interpolation::Linear | Interpolation::Cubic if dtype.is_float() => {
            e.possible_carrier(op::RESIZE, dtype)?
        }
        Interpolation::Linear | Interpolation::Cubic => dtype,
    };
    let may_gather =
        op.mode(e.g) == Interpolation::Nearest && op.coordinates(e.g) != Coordinates::Crop;
    if may_gather
        && !op::RESIZE.runs(carrier, e.opset)
        && let Some(axes) = nearest_elements(op, e)
    {
        return gathered(e, input, axes);
    }
    match resized(op, e, carrier) {
        Ok(own) => {
            e.note_kernel(op::RESIZE.name, carrier);
            e.cast(own, carrier, dtype)
        }
        Err(why) if may_gather => match nearest_elements(op, e) {
            Some(axes) => gathered(e, input, axes),
            None => Err(why),
        },
        Err(why) => Err(why),
    }
}

/// Gathers elements of `input` by lists of indices along axes.
fn gathered(e: &mut Emit<'_>, input: ValueId, axes: Vec<(i64, Vec<i64>)>) -> One {
    let mut own = e.value(input);
    for (axis, elements) in axes {
        let elements = e.ints(&elements);
        own = e.node(op::GATHER, &[own, elements], vec![("axis", axis.into())])?;
    }
    Ok(own)
}

/// Returns the indices that a resize with `nearest` takes along each of its axes, if they are known and not too many.
fn nearest_elements(op: Resize, e: &Emit<'_>) -> Option<Vec<(i64, Vec<i64>)>> {
    let input = op.input(e.g);
    let shape = e.g.ty(input).static_shape()?;
    let extents: Vec<usize> = shape
        .iter()
        .map(|&extent| usize::try_from(extent).ok())
        .collect::<Option<_>>()?;
    let scales = match op.scales(e.g) {
        Some(scales) => Some(e.known(scales)?),
        None => None,
    };
    let dims = DimEnv::default();
    let cx = EvalCx::run(e.g, &dims);
    let axes = op.resized_by(&cx, &extents, scales.as_ref()).ok()?;
    let (filter, mut elements) = (op.filter(e.g), Vec::with_capacity(axes.len()));
    for axis in axes {
        axis.check(&filter).ok()?;
        if axis.size > super::movement::WRITTEN_INDICES as usize {
            return None;
        }
        let element = |at| match axis.sample(&filter, at) {
            Sample::Element(element) => Some(element as i64),
            Sample::Outside | Sample::Between { .. } | Sample::Chain(_) => None,
        };
        let along = (0..axis.size).map(element).collect::<Option<_>>()?;
        elements.push((axis.dimension as i64, along));
    }
    Some(elements)
}

/// Returns a `Resize` computed in `carrier`.
fn resized(op: Resize, e: &mut Emit<'_>, carrier: DType) -> One {
    let (word, mut operator) = coordinates(op.coordinates(e.g))?;
    let input = op.input(e.g);
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
    let mut widened = None;
    if !is_whole && e.opset >= op::RESIZE_ALONG.since() {
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        attrs.push(("axes", axes[..].into()));
    } else if !is_whole {
        if !axes.is_sorted() {
            operator = later(operator, op::RESIZE_ALONG);
        }
        widened = Some(all_axes(op, e, &axes)?);
    }
    let targets = targets(op, e, &axes, widened)?;
    if let Some(policy) = targets.policy {
        attrs.push(("keep_aspect_ratio_policy", policy.into()));
        operator = later(operator, op::RESIZE_ALONG);
    }
    let own = e.value(input);
    let own = e.cast(own, e.dtype(input), carrier)?;
    let mut inputs = vec![Some(own), targets.region, targets.scales, targets.sizes];
    while inputs.last() == Some(&None) {
        inputs.pop();
    }
    Ok(e.nodes(operator, &inputs, attrs, 1)?[0])
}

/// Returns the operator form that was introduced later.
fn later(a: &'static op::Operator, b: &'static op::Operator) -> &'static op::Operator {
    if a.since() < b.since() { b } else { a }
}

/// Returns a number as `f32`, because ONNX attributes are `f32`.
fn narrow(number: f64) -> Result<f32, Refusal> {
    let narrow = number as f32;
    if f64::from(narrow) == number {
        return Ok(narrow);
    }
    let expected = "a number that f32 holds, because attributes of ONNX are f32";
    Err(Refusal::form("an attribute", number, expected))
}

/// Returns the extents of all axes, for opsets in which a resize cannot be limited to some of them.
///
/// # Errors
///
/// An unknown extent, or a crop region, which does not have entries for unchanged axes.
fn all_axes(op: Resize, e: &Emit<'_>, axes: &[usize]) -> Result<Vec<i64>, Refusal> {
    match e.shape(op.input(e.g)) {
        Ok(shape) if op.coordinates(e.g) != Coordinates::Crop => Ok(shape),
        Ok(_) | Err(_) => {
            let since = op::RESIZE_ALONG.since();
            let expected = format!(
                "{since} or later for a `Resize` along {} of its axes; `--opset {since}` writes it",
                axes.len()
            );
            Err(Refusal::form("the operator set", e.opset, expected))
        }
    }
}

/// Returns whether coordinates and weights depend on the scales in addition to the sizes.
fn reads_scales(op: Resize, e: &Emit<'_>) -> bool {
    match op.coordinates(e.g) {
        Coordinates::AlignCorners | Coordinates::AlignCentre => op.antialias(e.g),
        Coordinates::HalfPixel
        | Coordinates::PytorchHalfPixel
        | Coordinates::HalfPixelSymmetric
        | Coordinates::Asymmetric
        | Coordinates::Offset
        | Coordinates::MilDefault
        | Coordinates::Crop => true,
    }
}

/// Returns the requested sizes, scales or region along `axes`, or along all axes of the shape `widened` if it is given.
fn targets(
    op: Resize,
    e: &mut Emit<'_>,
    axes: &[usize],
    widened: Option<Vec<i64>>,
) -> Result<Targets, Refusal> {
    let sizes = op.sizes(e.g);
    // An axis that is not listed keeps its extent, and its scale is 1.
    let spread = |listed: &[f64], others: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let Some(shape) = &widened else {
            return listed.to_vec();
        };
        let place = |axis: usize| axes.iter().position(|&own| own == axis);
        let all = (0..shape.len()).map(|axis| match place(axis) {
            Some(at) => listed[at],
            None => others(axis),
        });
        all.collect()
    };
    let ints = |e: &mut Emit<'_>, sizes: &[i64]| {
        let listed: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
        let extent = |axis: usize| widened.as_ref().map_or(0.0, |shape| shape[axis] as f64);
        let all: Vec<i64> = spread(&listed, &extent)
            .iter()
            .map(|&own| own as i64)
            .collect();
        e.ints(&all)
    };
    let is_crop = op.coordinates(e.g) == Coordinates::Crop;
    let numbers = op.scales(e.g).filter(|_| reads_scales(op, e));
    let Some(numbers) = numbers else {
        // The region is the whole image.
        let mut region = vec![0f32; axes.len()];
        region.resize(2 * axes.len(), 1.0);
        let region = is_crop.then(|| e.tensor(&Tensor::of(vec![region.len()], region)));
        return Ok(Targets {
            region,
            sizes: Some(ints(e, sizes)),
            ..Targets::default()
        });
    };
    let known = e.known(numbers);
    let known =
        known.ok_or_else(|| Refusal::form("`scales`", "computed in the run", "a constant"))?;
    let wide = mind_convert::converted(&known, DType::F64);
    let wide = wide.elements::<f64>();
    if is_crop {
        let region: Vec<f32> = wide
            .iter()
            .map(|&own| narrow(own))
            .collect::<Result<_, _>>()?;
        let region = Tensor::of(vec![region.len()], region);
        return Ok(Targets {
            region: Some(e.tensor(&region)),
            sizes: Some(ints(e, sizes)),
            ..Targets::default()
        });
    }
    let shape = e.shape(op.input(e.g))?;
    let extents: Vec<i64> = axes.iter().map(|&axis| shape[axis]).collect();
    if reads_as(&extents, wide) == Some((sizes.to_vec(), wide.to_vec())) {
        let single: Vec<f32> = spread(wide, &|_| 1.0)
            .iter()
            .map(|&own| own as f32)
            .collect();
        let single = Tensor::of(vec![single.len()], single);
        return Ok(Targets {
            scales: Some(e.tensor(&single)),
            ..Targets::default()
        });
    }
    let asked = not_larger(&extents, sizes, wide).ok_or_else(|| {
        let expected = format!("numbers that f32 holds and that give the sizes {sizes:?}");
        Refusal::form("`scales`", format_args!("{wide:?}"), expected)
    })?;
    if widened.is_some() {
        let since = op::RESIZE_ALONG.since();
        let expected = format!(
            "{since} or later, because its scales need `keep_aspect_ratio_policy`; `--opset {since}` writes it"
        );
        return Err(Refusal::form("the operator set", e.opset, expected));
    }
    Ok(Targets {
        sizes: Some(e.ints(&asked)),
        policy: Some("not_larger"),
        ..Targets::default()
    })
}

/// Returns sizes for which the policy `not_larger` yields these sizes and scales: all scales are equal, namely the
/// ratio of one axis, and the other axes request more than they get.
fn not_larger(extents: &[i64], sizes: &[i64], scales: &[f64]) -> Option<Vec<i64>> {
    let (&scale, rest) = scales.split_first()?;
    let ratio = |at: usize| sizes[at] as f64 / extents[at] as f64;
    let rounded = |at: usize| (extents[at] as f64 * scale).round() as i64 == sizes[at];
    let all = 0..sizes.len();
    let is_one = rest.iter().all(|own| *own == scale)
        && all.clone().all(rounded)
        && all.clone().any(|at| ratio(at) == scale);
    let asked = all.map(|at| match ratio(at) == scale {
        true => sizes[at],
        false => sizes[at] + 1,
    });
    is_one.then(|| asked.collect())
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
            let expected = "`half_pixel` or `align_corners`";
            return Err(Refusal::form("`coordinates`", "`pixel`", expected));
        }
    };
    let padding = match op.padding(e.g) {
        GridPadding::Constant if op.fill(e.g) == 0.0 => "zeros",
        GridPadding::Border => "border",
        GridPadding::Reflect => "reflection",
        GridPadding::Symmetric if coordinates == GridCoordinates::HalfPixel => "reflection",
        GridPadding::Constant | GridPadding::Symmetric => {
            let found = format!(
                "`{}` with `fill` of {}",
                op.padding(e.g).name(),
                op.fill(e.g)
            );
            return Err(Refusal::form(
                "`padding`",
                found,
                "zeros, `border` or `reflect`, which are the ways of `GridSample`",
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
    let is_cubic_volume = rank == 5 && op.mode(e.g) == Interpolation::Cubic;
    if rank == 3 || rank > 5 || is_cubic_volume {
        let spatial = rank - 2;
        e.without_kernel.insert(format!(
            "`GridSample` of {spatial} spatial dimensions with mode \"{mode}\""
        ));
    }
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
