//! Imports resizes.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::sample::{Coordinates, Interpolation, Resize, Rounding};
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::{Extent, Value};

pub(super) const ROWS: &[Operator] = &[
    Operator::one("Resize", &[10, 11, 13, 18, 19], resize),
    Operator::one("Upsample", &[7, 9], upsample),
];

/// The values of `mode`; those that begin with `bi` are older.
const MODES: &[&str] = &["nearest", "linear", "cubic", "bilinear", "bicubic"];

/// The values of `coordinate_transformation_mode`.
const COORDINATES: &[&str] = &[
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
];

/// The values of `nearest_mode`.
const ROUNDINGS: &[&str] = &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

/// The values of `keep_aspect_ratio_policy`.
const POLICIES: &[&str] = &["stretch", "not_larger", "not_smaller"];

pub(super) fn interpolation(word: &str) -> Result<Interpolation, Refusal> {
    Ok(match word {
        "nearest" => Interpolation::Nearest,
        "linear" | "bilinear" => Interpolation::Linear,
        "cubic" | "bicubic" => Interpolation::Cubic,
        other => return Err(Refusal::word("mode", other, MODES)),
    })
}

/// The resized axes with their sizes and scales.
struct Target {
    axes: Vec<i64>,
    sizes: Vec<i64>,
    scales: Option<Vec<f64>>,
}

impl Target {
    /// Returns the sizes that result from scales, rounded down.
    ///
    /// The product is computed in `f32`, as in onnx's shape inference and in ONNX Runtime, so that, for example, 10
    /// elements scaled by the `f32` closest to 0.7 become 7.
    fn scaled(axes: Vec<i64>, shape: &[i64], scales: &[f64]) -> Result<Target, Refusal> {
        if scales.len() != axes.len() {
            let reason = "1 for each resized axis";
            return Err(Refusal::length("scales", scales.len(), axes.len(), reason));
        }
        let mut sizes = Vec::with_capacity(axes.len());
        let mut meant = Vec::with_capacity(axes.len());
        for (&axis, &scale) in axes.iter().zip(scales) {
            let scale = scale as f32;
            if !(scale > 0.0 && scale.is_finite()) {
                let found = format!("{scale} for axis {axis}");
                return Err(Refusal::value("scales", found, "a positive number"));
            }
            sizes.push((shape[axis as usize] as f32 * scale).floor() as i64);
            meant.push(simplest(scale));
        }
        Ok(Target {
            sizes,
            scales: Some(meant),
            axes,
        })
    }

    /// Removes the axes that do not change.
    fn changed(mut self, shape: &[i64]) -> Target {
        let stays = |at: usize| {
            let same = self.sizes[at] == shape[self.axes[at] as usize];
            same && self.scales.as_ref().is_none_or(|scales| scales[at] == 1.0)
        };
        let kept: Vec<usize> = (0..self.axes.len()).filter(|&at| !stays(at)).collect();
        self = self.along(&kept);
        self.without_ratios(shape)
    }

    /// Removes the scales if they are the ratios of sizes to extents within `f32` precision.
    fn without_ratios(mut self, shape: &[i64]) -> Target {
        let is_said = |at: usize, scale: f64| {
            let extent = shape[self.axes[at] as usize] as f64;
            (self.sizes[at] as f64 / extent) as f32 == scale as f32
        };
        let scales = self.scales.take();
        self.scales = scales.filter(|scales| {
            let mut pairs = scales.iter().enumerate();
            !pairs.all(|(at, &scale)| is_said(at, scale))
        });
        self
    }

    /// Returns the target restricted to the axes at the indices `kept`.
    fn along(&self, kept: &[usize]) -> Target {
        let scales = self.scales.as_ref();
        Target {
            axes: kept.iter().map(|&at| self.axes[at]).collect(),
            sizes: kept.iter().map(|&at| self.sizes[at]).collect(),
            scales: scales.map(|scales| kept.iter().map(|&at| scales[at]).collect()),
        }
    }

    /// Returns the first axis whose extent times scale is not an integer within `f32` rounding, and that product.
    fn fraction(&self, shape: &[i64]) -> Option<(i64, f64)> {
        let scales = self.scales.as_ref()?;
        let pairs = self.axes.iter().zip(scales);
        let mut products = pairs.map(|(&axis, scale)| (axis, shape[axis as usize] as f64 * scale));
        products.find(|(_, product)| product.fract().min(1.0 - product.fract()) > 1e-6 * product)
    }
}

/// Returns the sizes and scales that the importer derives from `scales` rounded to `f32`. Returns `None` if it would
/// refuse them, or replace them by the ratios of the sizes with a different result.
pub(crate) fn reads_as(extents: &[i64], scales: &[f64]) -> Option<(Vec<i64>, Vec<f64>)> {
    let axes = (0..extents.len() as i64).collect();
    let own = Target::scaled(axes, extents, scales).ok()?;
    let (sizes, meant) = (own.sizes.clone(), own.scales.clone()?);
    let is_left_out = own.changed(extents).scales.is_none();
    let is_ratio = |at: usize| meant[at].mul_add(extents[at] as f64, -(sizes[at] as f64)) == 0.0;
    let keeps_bits = !is_left_out || (0..meant.len()).all(is_ratio);
    keeps_bits.then_some((sizes, meant))
}

/// Maximum number of terms of a continued fraction. That of an `f32` has less than half as many.
const DIGITS: usize = 64;

/// Returns the fraction with the smallest denominator that rounds to `scale` in `f32`, for example 1/3 for 0.33333334.
///
/// Exporters write the `f32` closest to the intended ratio. With that ratio, coordinates that are meant to be integers
/// are integers, so that `floor` and `ceil` select the same elements as PyTorch and ONNX Runtime.
fn simplest(scale: f32) -> f64 {
    let own = f64::from(scale);
    if own.fract() == 0.0 {
        return own;
    }
    let half_way = |next: f32| f64::midpoint(own, f64::from(next));
    let (mut low, mut high) = (half_way(scale.next_down()), half_way(scale.next_up()));
    // The last two convergents of the continued fraction, as numerator and denominator.
    let [mut before, mut last] = [(0.0, 1.0), (1.0, 0.0)];
    for _ in 0..DIGITS {
        let whole = low.floor();
        let is_last = whole + 1.0 < high;
        let digit = if is_last { whole + 1.0 } else { whole };
        (before, last) = (last, (digit * last.0 + before.0, digit * last.1 + before.1));
        if is_last {
            break;
        }
        (low, high) = (1.0 / (high - whole), 1.0 / (low - whole));
    }
    let ratio = last.0 / last.1;
    if ratio as f32 == scale { ratio } else { own }
}

/// Sampling options of a node.
struct How {
    mode: Interpolation,
    coordinates: Coordinates,
    rounding: Rounding,
    cubic_a: f64,
    exclude_outside: bool,
    antialias: bool,
    fill: f64,
}

impl How {
    /// Returns whether an integer scale repeats each element that many times.
    fn repeats(&self) -> bool {
        let is_rounded = matches!(self.rounding, Rounding::PreferFloor | Rounding::PreferCeil);
        self.mode == Interpolation::Nearest
            && match self.coordinates {
                Coordinates::Asymmetric => self.rounding == Rounding::Floor,
                Coordinates::HalfPixel
                | Coordinates::PytorchHalfPixel
                | Coordinates::HalfPixelSymmetric => is_rounded,
                Coordinates::AlignCorners
                | Coordinates::Crop
                | Coordinates::AlignCentre
                | Coordinates::Offset
                | Coordinates::MilDefault => false,
            }
    }

    /// Returns the sampling options before opset 11: coordinates `o / s`, rounded down.
    fn asymmetric(mode: Interpolation) -> How {
        How {
            mode,
            coordinates: Coordinates::Asymmetric,
            rounding: Rounding::Floor,
            cubic_a: -0.75,
            exclude_outside: false,
            antialias: false,
            fill: 0.0,
        }
    }

    fn of(n: &Node<'_, '_, '_>) -> Result<How, Refusal> {
        let mode = interpolation(n.word("mode")?.unwrap_or("nearest"))?;
        if n.opset < 11 {
            return Ok(How::asymmetric(mode));
        }
        let word = n.word("coordinate_transformation_mode")?;
        Ok(How {
            mode,
            coordinates: coordinates(word.unwrap_or("half_pixel"))?,
            rounding: rounding(n.word("nearest_mode")?.unwrap_or("round_prefer_floor"))?,
            cubic_a: n.float("cubic_coeff_a")?.unwrap_or(-0.75),
            exclude_outside: n.flag("exclude_outside")?,
            antialias: n.flag("antialias")?,
            fill: n.float("extrapolation_value")?.unwrap_or(0.0),
        })
    }
}

fn resize(n: &mut Node<'_, '_, '_>) -> One {
    let mut x = n.input(0)?;
    let how = How::of(n)?;
    let shape = match how.coordinates {
        // The region has entries for all axes.
        Coordinates::Crop => n.e.shape(x)?,
        _ => extents(&n.e, x),
    };
    let (target, repeats) = target(n, x, &shape, how.repeats())?;
    for (axis, times) in repeats {
        x = repeated(&mut n.e, x, axis, times)?;
    }
    if how.coordinates == Coordinates::Crop {
        let region = n.floats_in(1)?.unwrap_or_default();
        let count = target.axes.len();
        if region.len() != 2 * count {
            let reason = "a start and an end for each resized axis";
            return Err(Refusal::length("roi", region.len(), 2 * count, reason));
        }
        let target = Target {
            scales: Some(region),
            ..target
        };
        return resized(n, x, &target, &how);
    }
    let mut target = target.changed(&shape);
    if target.axes.is_empty() {
        return Ok(x);
    }
    if how.coordinates == Coordinates::AlignCorners {
        warn_of_fraction(n, &target, &shape);
        // Only an antialiasing filter needs the scales.
        target.scales = target.scales.filter(|_| how.antialias);
    }
    if n.opset < 11 && how.mode == Interpolation::Nearest {
        return nearest_of_opset_10(n, x, &target, &shape);
    }
    resized(n, x, &target, &how)
}

/// Marks a dimension of unknown extent.
const OPEN: i64 = -1;

/// Returns the extents of `x`, with [`OPEN`] for unknown ones.
fn extents(e: &Emit<'_>, x: ValueId) -> Vec<i64> {
    let dims = e.dims(x).into_iter();
    dims.map(|dim| dim.fixed().unwrap_or(OPEN)).collect()
}

/// Axes of unknown extent along which each element is repeated, and the number of repeats.
type Repeats = Vec<(usize, i64)>;

/// Removes axes of unknown extent from `axes` and `scales`. A scale of 1 leaves an axis unchanged. Other integer scales
/// become repeats, if `repeats` states that the mode repeats elements.
///
/// # Errors
///
/// E4105 for any other scale of an axis of unknown extent.
fn without_open(
    n: &Node<'_, '_, '_>,
    x: ValueId,
    (axes, scales): (Vec<i64>, Vec<f64>),
    repeats: bool,
) -> Result<(Vec<i64>, Vec<f64>, Repeats), Refusal> {
    let (mut kept, mut found) = ((Vec::new(), Vec::new()), Vec::new());
    for (axis, scale) in axes.into_iter().zip(scales) {
        let at = axis as usize;
        let is_open = n.e.dims(x)[at].fixed().is_none();
        if is_open && scale == 1.0 {
            continue;
        }
        if is_open && repeats && scale.fract() == 0.0 && (1.0..MOST_REPEATS).contains(&scale) {
            found.push((at, scale as i64));
            continue;
        }
        n.e.extent(x, at)?;
        kept.0.push(axis);
        kept.1.push(scale);
    }
    Ok((kept.0, kept.1, found))
}

/// The first scale that is not supported as a number of repeats.
const MOST_REPEATS: f64 = 65536.0;

/// Repeats each element of `x` along an axis `times` times.
fn repeated(e: &mut Emit<'_>, x: ValueId, axis: usize, times: i64) -> One {
    let own = e.extents_of(x);
    let (mut wide, mut whole) = (own.clone(), own.clone());
    wide.insert(axis + 1, Extent::Known(times));
    whole[axis] = e.times(own[axis], Extent::Known(times))?;
    let apart = ExpandDims::with(&[axis as i64 + 1]).build(e, x)?;
    let wide = e.broadcast_extents(apart, &wide)?;
    e.reshape_extents(wide, &whole)
}

/// Axes, and the size along each.
type AxisSizes = (Vec<i64>, Vec<i64>);

/// Returns the sizes in input `at` along `axes`, without axes of unknown extent whose size is that of `x`.
fn known_sizes(
    n: &Node<'_, '_, '_>,
    x: ValueId,
    axes: Vec<i64>,
    at: usize,
) -> Result<Option<AxisSizes>, Refusal> {
    let Some(Value::Extents(list)) = n.given(at) else {
        let sizes = n.ints_in(at)?.filter(|own| !own.is_empty());
        return Ok(sizes.map(|sizes| (axes, sizes)));
    };
    if list.elements.len() != axes.len() {
        return Err(wrong_sizes(list.elements.len(), axes.len()));
    }
    let stays = |axis: i64, size: Extent| {
        let own = n.e.extent_at(x, axis as usize);
        own == size || matches!(own.dim(), Dim::Symbol(_)) && own.dim() == size.dim()
    };
    let pairs = axes.into_iter().zip(list.elements.iter().copied());
    let pairs = pairs.filter(|&(axis, size)| !stays(axis, size));
    let (axes, sizes): (Vec<i64>, Vec<Option<i64>>) =
        pairs.map(|(axis, size)| (axis, size.dim().fixed())).unzip();
    match sizes.into_iter().collect::<Option<Vec<i64>>>() {
        Some(sizes) => Ok(Some((axes, sizes))),
        // Refuses data-dependent sizes.
        None => n.ints_in(at).map(|_| None),
    }
}

fn wrong_sizes(found: usize, expected: usize) -> Refusal {
    Refusal::length("sizes", found, expected, "1 for each resized axis")
}

/// Returns the requested sizes or scales along the axes of a node, and repeats along axes of unknown extent.
fn target(
    n: &Node<'_, '_, '_>,
    x: ValueId,
    shape: &[i64],
    repeats: bool,
) -> Result<(Target, Repeats), Refusal> {
    let axes = match n.ints("axes")? {
        Some(axes) => {
            let axes = axes
                .iter()
                .map(|&axis| Ok(n.e.axis(axis, shape.len())? as i64));
            axes.collect::<Result<Vec<i64>, Refusal>>()?
        }
        None => (0..shape.len() as i64).collect(),
    };
    let policy = n.word("keep_aspect_ratio_policy")?.unwrap_or("stretch");
    let (scales_at, sizes_at) = if n.opset < 11 {
        (1, usize::MAX)
    } else {
        (2, 3)
    };
    let scales = n.floats_in(scales_at)?.filter(|own| !own.is_empty());
    let count = axes.len();
    let sizes = known_sizes(n, x, axes.clone(), sizes_at)?;
    match (scales, sizes) {
        (Some(scales), None) if scales.len() == count => {
            let (axes, scales, repeats) = without_open(n, x, (axes, scales), repeats)?;
            Ok((Target::scaled(axes, shape, &scales)?, repeats))
        }
        (Some(scales), None) => Target::scaled(axes, shape, &scales).map(|own| (own, Vec::new())),
        (None, Some((axes, sizes))) if sizes.len() == axes.len() => {
            if policy != "stretch" {
                // The policy uses the ratios of all extents.
                n.e.shape(x)?;
            }
            Ok((aspect(policy, axes, shape, sizes)?, Vec::new()))
        }
        (None, Some((axes, sizes))) => Err(wrong_sizes(sizes.len(), axes.len())),
        (Some(_), Some(_)) => Err(Refusal::parts(
            "the node",
            "`scales` and `sizes`",
            "one of them",
        )),
        (None, None) => Err(Refusal::missing("scales")),
    }
}

/// Warns if ONNX's reference evaluator aligns other corners than exporters intend.
fn warn_of_fraction(n: &mut Node<'_, '_, '_>, target: &Target, shape: &[i64]) {
    if let Some((axis, product)) = target.fraction(shape) {
        n.warn(format!(
            "`align_corners` aligns the last of the elements that there are along axis {axis}, as PyTorch and ONNX Runtime \
             do; the reference evaluator of ONNX aligns the end of scale × extent = {product} elements"
        ));
    }
}

/// Returns the nearest elements as before the attribute `nearest_mode`: coordinates are rounded up if the scale is
/// below 1, and down otherwise.
///
/// Source: the node tests of the package onnx 1.5 (`test_resize_downsample_nearest`), and ONNX Runtime.
fn nearest_of_opset_10(
    n: &mut Node<'_, '_, '_>,
    x: ValueId,
    target: &Target,
    shape: &[i64],
) -> One {
    let scale = |at: usize| match &target.scales {
        Some(scales) => scales[at],
        None => target.sizes[at] as f64 / shape[target.axes[at] as usize] as f64,
    };
    let (down, up): (Vec<usize>, Vec<usize>) =
        (0..target.axes.len()).partition(|&at| scale(at) < 1.0);
    let mut own = x;
    for (kept, rounding) in [(down, Rounding::Ceil), (up, Rounding::Floor)] {
        if kept.is_empty() {
            continue;
        }
        if rounding == Rounding::Ceil {
            n.warn(
                "coordinates of fewer elements are rounded up, as in ONNX's own tests of opset 10 and in ONNX Runtime; \
                 PyTorch and TensorFlow, which export such nodes, round them down: export with opset 11 or later",
            );
        }
        let how = How {
            rounding,
            ..How::asymmetric(Interpolation::Nearest)
        };
        let target = target.along(&kept).without_ratios(shape);
        own = resized(n, own, &target, &how)?;
    }
    Ok(own)
}

fn resized(n: &mut Node<'_, '_, '_>, x: ValueId, target: &Target, how: &How) -> One {
    let scales = target.scales.as_ref().map(|scales| {
        let scales = Tensor::of(vec![scales.len()], scales.clone());
        n.e.tensor(&scales)
    });
    let op = Resize::with(&target.axes, &target.sizes)
        .mode(how.mode)
        .coordinates(how.coordinates)
        .nearest(how.rounding)
        .cubic_a(how.cubic_a)
        .exclude_outside(how.exclude_outside)
        .antialias(how.antialias)
        .fill(how.fill);
    Ok(op.build(&mut n.e, x, scales)?)
}

fn coordinates(word: &str) -> Result<Coordinates, Refusal> {
    Ok(match word {
        "half_pixel" => Coordinates::HalfPixel,
        "pytorch_half_pixel" => Coordinates::PytorchHalfPixel,
        "half_pixel_symmetric" => Coordinates::HalfPixelSymmetric,
        "asymmetric" => Coordinates::Asymmetric,
        "align_corners" => Coordinates::AlignCorners,
        "tf_crop_and_resize" => Coordinates::Crop,
        other => {
            return Err(Refusal::word(
                "coordinate_transformation_mode",
                other,
                COORDINATES,
            ));
        }
    })
}

fn rounding(word: &str) -> Result<Rounding, Refusal> {
    Ok(match word {
        "round_prefer_floor" => Rounding::PreferFloor,
        "round_prefer_ceil" => Rounding::PreferCeil,
        "floor" => Rounding::Floor,
        "ceil" => Rounding::Ceil,
        other => return Err(Refusal::word("nearest_mode", other, ROUNDINGS)),
    })
}

/// Returns the target of a policy: the sizes unchanged, or one scale for all axes, the smallest or the largest of the
/// requested ones.
fn aspect(policy: &str, axes: Vec<i64>, shape: &[i64], sizes: Vec<i64>) -> Result<Target, Refusal> {
    let ratios = axes
        .iter()
        .zip(&sizes)
        .map(|(&axis, &size)| size as f64 / shape[axis as usize] as f64);
    let scale = match policy {
        "stretch" => {
            return Ok(Target {
                axes,
                sizes,
                scales: None,
            });
        }
        "not_larger" => ratios.fold(f64::INFINITY, f64::min),
        "not_smaller" => ratios.fold(0.0, f64::max),
        other => return Err(Refusal::word("keep_aspect_ratio_policy", other, POLICIES)),
    };
    let sizes = axes
        .iter()
        .map(|&axis| (shape[axis as usize] as f64 * scale).round() as i64);
    Ok(Target {
        sizes: sizes.collect(),
        scales: Some(vec![scale; axes.len()]),
        axes,
    })
}

/// Imports `Upsample` of opset 10 and earlier, whose nearest elements are rounded down.
fn upsample(n: &mut Node<'_, '_, '_>) -> One {
    let mut x = n.input(0)?;
    let shape = extents(&n.e, x);
    let mode = interpolation(n.word("mode")?.unwrap_or("nearest"))?;
    let scales = match n.opset {
        ..9 => n
            .floats("scales")?
            .map(|own| own.iter().map(|&own| f64::from(own)).collect()),
        _ => n.floats_in(1)?,
    };
    let scales = scales.ok_or_else(|| Refusal::missing("scales"))?;
    let mut axes: Vec<i64> = (0..shape.len() as i64).collect();
    let how = How::asymmetric(mode);
    let (mut scales, mut repeats) = (scales, Vec::new());
    if scales.len() == axes.len() {
        (axes, scales, repeats) = without_open(n, x, (axes, scales), how.repeats())?;
    }
    let target = Target::scaled(axes, &shape, &scales)?.changed(&shape);
    for (axis, times) in repeats {
        x = repeated(&mut n.e, x, axis, times)?;
    }
    if target.axes.is_empty() {
        return Ok(x);
    }
    resized(n, x, &target, &how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_the_ratio_that_it_was_rounded_from() {
        let ratios = [
            (1, 3),
            (7, 10),
            (2, 1),
            (19, 12),
            (1, 1024),
            (45, 100),
            (640, 427),
            (3, 1),
        ];
        for (p, q) in ratios {
            let ratio = f64::from(p) / f64::from(q);
            assert_eq!(simplest(ratio as f32), ratio, "{p}/{q}");
        }
    }

    #[test]
    fn every_scale_stays_itself_in_f32() {
        let few = [
            f32::MIN_POSITIVE,
            1e-40,
            f32::MAX,
            0.1,
            1.0 - f32::EPSILON,
            16_777_215.0,
        ];
        let spread = (0..4096u32).map(|at| f32::from_bits(0x3000_0000 + at * 0x8_1357));
        let is_scale = |own: &f32| *own > 0.0 && own.is_finite();
        for scale in few.into_iter().chain(spread).filter(is_scale) {
            assert_eq!(simplest(scale) as f32, scale);
        }
    }
}
