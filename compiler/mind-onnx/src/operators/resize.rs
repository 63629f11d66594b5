//! Images with other extents.

use mind_convert::Refusal;
use mind_core::ops::sample::{Coordinates, Interpolation, Resize, Rounding};
use mind_ir::tensor::Tensor;

use super::Operator;
use crate::import::emit::One;
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("Resize", &[10, 11, 13, 18, 19], resize),
    Operator::one("Upsample", &[7, 9], upsample),
];

pub(super) fn unsupported(name: &str, word: &str) -> Refusal {
    let expected = match name {
        "mode" => "a mode that the operator has",
        _ => "a word that the operator has",
    };
    Refusal::value(name, format_args!("\"{word}\""), expected)
}

pub(super) fn interpolation(word: &str) -> Result<Interpolation, Refusal> {
    Ok(match word {
        "nearest" => Interpolation::Nearest,
        "linear" | "bilinear" => Interpolation::Linear,
        "cubic" | "bicubic" => Interpolation::Cubic,
        other => return Err(unsupported("mode", other)),
    })
}

/// What is resized along some axes.
struct Target {
    axes: Vec<i64>,
    sizes: Vec<i64>,
    scales: Option<Vec<f64>>,
}

impl Target {
    /// Scales give sizes rounded down.
    fn scaled(axes: Vec<i64>, shape: &[i64], scales: Vec<f64>) -> Result<Target, Refusal> {
        if scales.len() != axes.len() {
            return Err(Refusal::length(
                "scales",
                scales.len(),
                axes.len(),
                "1 for each resized axis",
            ));
        }
        let pairs = axes.iter().zip(&scales);
        let sizes =
            pairs.map(|(&axis, scale)| (shape[axis as usize] as f64 * scale).floor() as i64);
        Ok(Target {
            sizes: sizes.collect(),
            scales: Some(scales),
            axes,
        })
    }

    /// Leaves out the axes that stay as they are.
    fn changed(mut self, shape: &[i64]) -> Target {
        let stays = |at: usize| {
            let same = self.sizes[at] == shape[self.axes[at] as usize];
            same && self.scales.as_ref().is_none_or(|scales| scales[at] == 1.0)
        };
        let kept: Vec<usize> = (0..self.axes.len()).filter(|&at| !stays(at)).collect();
        self.axes = kept.iter().map(|&at| self.axes[at]).collect();
        self.sizes = kept.iter().map(|&at| self.sizes[at]).collect();
        let scales = self.scales.take();
        let scales: Option<Vec<f64>> =
            scales.map(|scales| kept.iter().map(|&at| scales[at]).collect());
        // Sizes say scales that are exactly their ratios to the extents.
        let is_said = |at: usize, scale: f64| {
            let extent = shape[self.axes[at] as usize] as f64;
            scale.mul_add(extent, -(self.sizes[at] as f64)) == 0.0
        };
        self.scales = scales.filter(|scales| {
            let mut pairs = scales.iter().enumerate();
            !pairs.all(|(at, &scale)| is_said(at, scale))
        });
        self
    }

    /// Corners are aligned with the extents that the scales give, which are no integers where sizes were rounded down.
    fn aligned(mut self, shape: &[i64]) -> (Target, Coordinates) {
        let Some(scales) = &mut self.scales else {
            return (self, Coordinates::AlignCorners);
        };
        let extents = self.axes.iter().map(|&axis| shape[axis as usize] as f64);
        let pairs = extents.zip(scales.iter_mut());
        let is_whole = |(extent, scale): &(f64, &mut f64)| (extent * **scale).fract() == 0.0;
        let mut pairs: Vec<(f64, &mut f64)> = pairs.collect();
        if pairs.iter().all(is_whole) {
            return (self, Coordinates::AlignCorners);
        }
        for (extent, scale) in &mut pairs {
            // The one element of an axis is at its start.
            let steps = (*extent - 1.0).max(1.0);
            **scale = ((*extent * **scale - 1.0) / steps).max(f64::MIN_POSITIVE);
        }
        (self, Coordinates::Asymmetric)
    }
}

fn resize(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let shape = n.e.shape(x)?;
    let mode = interpolation(n.word("mode")?.unwrap_or("nearest"))?;
    // Before opset 11 the coordinates were those of `asymmetric`, rounded down.
    let (coordinates, rounding) = match n.opset {
        ..11 => (Coordinates::Asymmetric, Rounding::Floor),
        _ => (
            coordinates(
                n.word("coordinate_transformation_mode")?
                    .unwrap_or("half_pixel"),
            )?,
            rounding(n.word("nearest_mode")?.unwrap_or("round_prefer_floor"))?,
        ),
    };
    let cubic = n.float("cubic_coeff_a")?.unwrap_or(-0.75);
    let exclude = n.flag("exclude_outside")?;
    let antialias = n.flag("antialias")?;
    let fill = n.float("extrapolation_value")?.unwrap_or(0.0);
    let policy = n.word("keep_aspect_ratio_policy")?.unwrap_or("stretch");
    let axes = match n.ints("axes")? {
        Some(axes) => {
            let axes = axes
                .iter()
                .map(|&axis| Ok(n.e.axis(axis, shape.len())? as i64));
            axes.collect::<Result<Vec<i64>, Refusal>>()?
        }
        None => (0..shape.len() as i64).collect(),
    };
    let (scales_at, sizes_at) = if n.opset < 11 {
        (1, usize::MAX)
    } else {
        (2, 3)
    };
    let scales = n.floats_in(scales_at)?.filter(|own| !own.is_empty());
    let sizes = n.ints_in(sizes_at)?.filter(|own| !own.is_empty());
    let is_crop = coordinates == Coordinates::Crop;
    let target = match (scales, sizes) {
        (Some(scales), None) => Target::scaled(axes, &shape, scales)?,
        (None, Some(sizes)) if sizes.len() == axes.len() => aspect(policy, axes, &shape, sizes)?,
        (None, Some(sizes)) => {
            let reason = "1 for each resized axis";
            return Err(Refusal::length("sizes", sizes.len(), axes.len(), reason));
        }
        (Some(_), Some(_)) => {
            return Err(Refusal::parts(
                "the node",
                "`scales` and `sizes`",
                "one of them",
            ));
        }
        (None, None) => return Err(Refusal::missing("scales")),
    };
    if is_crop {
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
        return resized(
            n,
            x,
            &target,
            mode,
            coordinates,
            rounding,
            (cubic, exclude, antialias, fill),
        );
    }
    let target = target.changed(&shape);
    if target.axes.is_empty() {
        return Ok(x);
    }
    let (target, coordinates) = match coordinates {
        Coordinates::AlignCorners => target.aligned(&shape),
        coordinates => (target, coordinates),
    };
    resized(
        n,
        x,
        &target,
        mode,
        coordinates,
        rounding,
        (cubic, exclude, antialias, fill),
    )
}

fn resized(
    n: &mut Node<'_, '_, '_>,
    x: mind_ir::ValueId,
    target: &Target,
    mode: Interpolation,
    coordinates: Coordinates,
    rounding: Rounding,
    (cubic, exclude, antialias, fill): (f64, bool, bool, f64),
) -> One {
    let scales = target.scales.as_ref().map(|scales| {
        let scales = Tensor::of(vec![scales.len()], scales.clone());
        n.e.tensor(&scales)
    });
    let op = Resize::with(&target.axes, &target.sizes)
        .mode(mode)
        .coordinates(coordinates)
        .nearest(rounding)
        .cubic_a(cubic)
        .exclude_outside(exclude)
        .antialias(antialias)
        .fill(fill);
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
        other => return Err(unsupported("coordinate_transformation_mode", other)),
    })
}

fn rounding(word: &str) -> Result<Rounding, Refusal> {
    Ok(match word {
        "round_prefer_floor" => Rounding::PreferFloor,
        "round_prefer_ceil" => Rounding::PreferCeil,
        "floor" => Rounding::Floor,
        "ceil" => Rounding::Ceil,
        other => return Err(unsupported("nearest_mode", other)),
    })
}

/// Sizes as they are, or one scale for all axes: the smallest or the largest that the sizes ask for.
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
        other => return Err(unsupported("keep_aspect_ratio_policy", other)),
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

/// Nearest elements, rounded down, until opset 10.
fn upsample(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let shape = n.e.shape(x)?;
    let mode = interpolation(n.word("mode")?.unwrap_or("nearest"))?;
    let scales = match n.opset {
        ..9 => n
            .floats("scales")?
            .map(|own| own.iter().map(|&own| f64::from(own)).collect()),
        _ => n.floats_in(1)?,
    };
    let scales = scales.ok_or_else(|| Refusal::missing("scales"))?;
    let axes = (0..shape.len() as i64).collect();
    let target = Target::scaled(axes, &shape, scales)?.changed(&shape);
    if target.axes.is_empty() {
        return Ok(x);
    }
    let plain = (-0.75, false, false, 0.0);
    resized(
        n,
        x,
        &target,
        mode,
        Coordinates::Asymmetric,
        Rounding::Floor,
        plain,
    )
}
