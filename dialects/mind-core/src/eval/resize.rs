//! Resizing with interpolation, one axis at a time.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::DType;

use super::convert::cast;
use super::indexed::picked_or;

mind_ir::words! {
    /// The interpolation between elements.
    pub enum Interpolation {
        /// The nearest element.
        Nearest = "nearest",
        /// Linear interpolation between two elements.
        Linear = "linear",
        /// Cubic convolution over four elements.
        Cubic = "cubic",
    }

    /// The mapping from an index of the result to a coordinate of the input.
    pub enum Coordinates {
        /// `(o + 1/2) / s - 1/2`.
        HalfPixel = "half_pixel",
        /// As `half_pixel`, but 0 if the result has one element.
        PytorchHalfPixel = "pytorch_half_pixel",
        /// As `half_pixel`, but centred if the extent of the result is not exactly the scaled extent.
        HalfPixelSymmetric = "half_pixel_symmetric",
        /// `o / s`.
        Asymmetric = "asymmetric",
        /// `o (n - 1) / (m - 1)`, but 0 if the result has one element.
        AlignCorners = "align_corners",
        /// As `align_corners`, but the centre if the result has one element.
        AlignCentre = "align_centre",
        /// `(o + 1/2) max(n - 1, 1) / m`.
        Offset = "offset",
        /// `o (n - n / m) / max(m - 1, 1)`.
        MilDefault = "mil_default",
        /// Evenly spaced from the start of a region of the input to its end; both are fractions of the last index.
        Crop = "crop",
    }

    /// Rounding of coordinates to the nearest element.
    pub enum Rounding {
        /// To nearest, ties down.
        PreferFloor = "prefer_floor",
        /// To nearest, ties up.
        PreferCeil = "prefer_ceil",
        /// Down.
        Floor = "floor",
        /// Up.
        Ceil = "ceil",
    }
}

/// The attributes of a resize that all axes share.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// The interpolation between elements.
    pub mode: Interpolation,
    /// The mapping to coordinates of the input.
    pub coordinates: Coordinates,
    /// The rounding of [`Interpolation::Nearest`].
    pub nearest: Rounding,
    /// The coefficient of the cubic convolution.
    pub cubic_a: f64,
    /// Whether taps outside of the input are dropped and the other weights normalised.
    pub exclude_outside: bool,
    /// Whether the filter is stretched when downsampling.
    pub antialias: bool,
    /// The value of [`Coordinates::Crop`] outside of the input.
    pub fill: f64,
}

/// An axis that is resized.
#[derive(Clone, Copy, Debug)]
pub struct ResizedAxis {
    /// The dimension.
    pub dimension: usize,
    /// The extent of the input; not 0 unless `size` is 0.
    pub extent: usize,
    /// The extent of the result.
    pub size: usize,
    /// The scale from input to result, if it is not the quotient of the extents.
    pub scale: Option<f64>,
    /// The region of [`Coordinates::Crop`].
    pub region: [f64; 2],
}

/// The taps of an element of the result along one axis.
#[derive(Clone, PartialEq, Debug)]
pub enum Sample {
    /// The fill.
    Outside,
    /// A single element.
    Element(usize),
    /// `fma(high, part, low * (1 - part))`.
    Between {
        /// The element below.
        low: usize,
        /// The element above.
        high: usize,
        /// The weight of `high`.
        part: f64,
    },
    /// A chain over pairs of an element and its weight.
    Chain(Vec<(usize, f64)>),
}

/// The limit on the length of a stretched filter: about this many taps for each element of the axis.
const TAPS: f64 = 8.0;

impl ResizedAxis {
    /// Checks that there are elements to resize, that the scale is a positive number, and that the stretched filter is
    /// not too long.
    ///
    /// # Errors
    ///
    /// A check fails.
    pub fn check(&self, filter: &Filter) -> Result<(), EvalError> {
        if self.extent == 0 && self.size > 0 {
            let text = format!(
                "dimension {} has no element to resize to {}",
                self.dimension, self.size
            );
            return Err(EvalError::Shape(text));
        }
        let fits = |scale: f64| {
            let reach = self.extent as f64 * TAPS + TAPS;
            scale > 0.0 && scale.is_finite() && (!filter.antialias || reach * scale >= 1.0)
        };
        match self.scale {
            Some(scale) if !fits(scale) => Err(EvalError::Shape(format!(
                "dimension {} of extent {} cannot be scaled by {scale}",
                self.dimension, self.extent
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the coordinate in the input of element `at` of the result.
    fn coordinate(&self, coordinates: Coordinates, at: usize) -> f64 {
        let (n, m, at) = (self.extent as f64, self.size as f64, at as f64);
        let unscaled = |at: f64| self.scale.map_or(at * n / m, |scale| at / scale);
        match coordinates {
            Coordinates::PytorchHalfPixel if self.size == 1 => 0.0,
            Coordinates::HalfPixel | Coordinates::PytorchHalfPixel => unscaled(at + 0.5) - 0.5,
            Coordinates::HalfPixelSymmetric => {
                let adjustment = self.scale.map_or(1.0, |scale| m / (scale * n));
                n / 2.0 * (1.0 - adjustment) + unscaled(at + 0.5) - 0.5
            }
            Coordinates::Asymmetric => unscaled(at),
            Coordinates::AlignCentre if self.size == 1 => (n - 1.0) / 2.0,
            Coordinates::AlignCorners if self.size == 1 => 0.0,
            Coordinates::AlignCentre | Coordinates::AlignCorners => at * (n - 1.0) / (m - 1.0),
            Coordinates::Offset => (at + 0.5) * (n - 1.0).max(1.0) / m,
            Coordinates::MilDefault => at * (n - n / m) / (m - 1.0).max(1.0),
            Coordinates::Crop => {
                let [start, end] = self.region;
                match self.size {
                    1 => 0.5 * (start + end) * (n - 1.0),
                    _ => start * (n - 1.0) + at * (end - start) * (n - 1.0) / (m - 1.0),
                }
            }
        }
    }

    /// Returns the taps of element `at` of the result.
    pub fn sample(&self, filter: &Filter, at: usize) -> Sample {
        let (place, last) = (
            self.coordinate(filter.coordinates, at),
            self.extent as f64 - 1.0,
        );
        if filter.coordinates == Coordinates::Crop && !(0.0..=last).contains(&place) {
            return Sample::Outside;
        }
        let stretch = match (filter.antialias, self.scale) {
            (false, _) => 1.0,
            (true, Some(scale)) => (1.0 / scale).max(1.0),
            (true, None) => (self.extent as f64 / self.size as f64).max(1.0),
        };
        match filter.mode {
            Interpolation::Nearest => {
                let place = match filter.nearest {
                    Rounding::PreferFloor => (place - 0.5).ceil(),
                    Rounding::PreferCeil => (place + 0.5).floor(),
                    Rounding::Floor => place.floor(),
                    Rounding::Ceil => place.ceil(),
                };
                Sample::Element(place.clamp(0.0, last) as usize)
            }
            Interpolation::Linear if stretch == 1.0 => {
                let place = place.clamp(0.0, last);
                let low = place as usize;
                match place - low as f64 {
                    0.0 => Sample::Element(low),
                    part => Sample::Between {
                        low,
                        high: (low + 1).min(self.extent - 1),
                        part,
                    },
                }
            }
            Interpolation::Linear | Interpolation::Cubic => {
                Sample::Chain(self.taps(filter, place, stretch))
            }
        }
    }

    /// Returns the taps around `place` of a filter stretched by `stretch`.
    fn taps(&self, filter: &Filter, place: f64, stretch: f64) -> Vec<(usize, f64)> {
        let (base, last) = (place.floor(), self.extent as f64 - 1.0);
        let part = place - base;
        let radius = match filter.mode {
            Interpolation::Cubic => 2.0,
            Interpolation::Nearest | Interpolation::Linear => 1.0,
        };
        let (first, end) = match stretch {
            1.0 => (1.0 - radius, radius),
            _ => {
                let reach = radius * stretch;
                ((part - reach).floor() + 1.0, (part + reach).ceil() - 1.0)
            }
        };
        let offsets = first as i64..=end as i64;
        let taps = offsets.map(|offset| {
            let place = base + offset as f64;
            let is_inside = (0.0..=last).contains(&place);
            let weight = filter.weight((offset as f64 - part).abs() / stretch);
            let element = place.clamp(0.0, last) as usize;
            (is_inside, (element, weight))
        });
        let taps = taps.filter(|(is_inside, _)| *is_inside || !filter.exclude_outside);
        let mut taps: Vec<(usize, f64)> = taps.map(|(_, tap)| tap).collect();
        if filter.exclude_outside || stretch != 1.0 {
            let sum: f64 = taps.iter().map(|(_, weight)| weight).sum();
            taps.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
        taps
    }
}

impl Filter {
    /// Returns the weight of an element at a distance.
    fn weight(&self, distance: f64) -> f64 {
        match self.mode {
            Interpolation::Cubic => cubic(self.cubic_a, distance),
            Interpolation::Nearest | Interpolation::Linear => (1.0 - distance).max(0.0),
        }
    }
}

/// Returns the weight at a distance of 0 or more of the cubic convolution with coefficient `a`.
pub(crate) fn cubic(a: f64, distance: f64) -> f64 {
    let d = distance;
    match d {
        ..=1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
        ..2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
        _ => 0.0,
    }
}

/// Returns the dtype in which elements of `dtype` are interpolated.
pub fn computed_dtype(dtype: DType) -> DType {
    if dtype == DType::F64 || dtype.is_int() && dtype.size() >= 4 {
        DType::F64
    } else {
        DType::F32
    }
}

/// Resizes `input` along `axes`, which are of different dimensions and in ascending order.
///
/// # Errors
///
/// No element to resize, a scale that is not a positive number, E6004 too large.
pub fn resize(
    cx: &EvalCx<'_>,
    filter: &Filter,
    axes: &[ResizedAxis],
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    axes.iter().try_for_each(|axis| axis.check(filter))?;
    let dtype = input.dtype();
    if filter.mode == Interpolation::Nearest {
        return nearest(cx, filter, axes, input);
    }
    let wide = cast(cx, input, computed_dtype(dtype))?;
    let is_whole = dtype.is_int();
    let result = if wide.dtype() == DType::F64 {
        resize_as(cx, filter, axes, &wide, |x: f64| {
            if is_whole { x.round_ties_even() } else { x }
        })
    } else {
        resize_as(cx, filter, axes, &wide, |x: f32| {
            if is_whole { x.round_ties_even() } else { x }
        })
    };
    cast(cx, &result?, dtype)
}

/// Resizes with [`Interpolation::Nearest`], which copies elements without arithmetic.
fn nearest(
    cx: &EvalCx<'_>,
    filter: &Filter,
    axes: &[ResizedAxis],
    input: &Tensor,
) -> Result<Tensor, EvalError> {
    let mut shape = input.shape().to_vec();
    axes.iter()
        .for_each(|axis| shape[axis.dimension] = axis.size);
    cx.count(input.dtype(), &shape)?;
    let mut places: Vec<Option<Vec<Option<usize>>>> = vec![None; shape.len()];
    for axis in axes {
        let place = |at: usize| match axis.sample(filter, at) {
            Sample::Element(element) => Some(element),
            Sample::Outside | Sample::Between { .. } | Sample::Chain(_) => None,
        };
        places[axis.dimension] = Some((0..axis.size).map(place).collect());
    }
    let fill = Tensor::of(Vec::new(), vec![filter.fill]);
    let fill = cast(cx, &fill, input.dtype())?;
    let extents = input.shape().to_vec();
    picked_or(cx, input, &fill, shape, &mut |index| {
        let mut offset = Some(0);
        for (dimension, &at) in index.iter().enumerate() {
            let place = match &places[dimension] {
                Some(places) => places[at],
                None => Some(at),
            };
            offset = offset
                .zip(place)
                .map(|(offset, place)| offset * extents[dimension] + place);
        }
        Ok(offset)
    })
}

/// Interpolates in `T` along one axis at a time, the last axis first, then applies `finish` to each element.
fn resize_as<T: Num<Acc = T>>(
    cx: &EvalCx<'_>,
    filter: &Filter,
    axes: &[ResizedAxis],
    input: &Tensor,
    finish: impl Fn(T) -> T,
) -> Result<Tensor, EvalError> {
    let mut shape = input.shape().to_vec();
    let mut elements = input.elements::<T>().to_vec();
    let mut outside: Vec<(usize, Vec<bool>)> = Vec::new();
    for axis in axes.iter().rev() {
        let from = shape.clone();
        shape[axis.dimension] = axis.size;
        let count = cx.count(T::DTYPE, &shape)?;
        let mut beyond = vec![false; axis.size];
        elements = along(filter, axis, &from, count, &elements, &mut beyond);
        outside.push((axis.dimension, beyond));
    }
    for (dimension, beyond) in outside {
        let inner: usize = shape[dimension + 1..].iter().product();
        for (at, element) in elements.iter_mut().enumerate() {
            if beyond[at / inner % shape[dimension]] {
                *element = T::cast_f64(filter.fill);
            }
        }
    }
    let finished: Vec<T> = elements.into_iter().map(finish).collect();
    Ok(Tensor::of(shape, finished))
}

/// Interpolates along one axis. `from` is the shape of `elements` and `count` the number of results; `beyond` is set
/// for each index of the result that is outside of the input.
fn along<T: Num<Acc = T>>(
    filter: &Filter,
    axis: &ResizedAxis,
    from: &[usize],
    count: usize,
    elements: &[T],
    beyond: &mut [bool],
) -> Vec<T> {
    let mut results = vec![T::ZERO; count];
    if count == 0 {
        return results;
    }
    let inner: usize = from[axis.dimension + 1..].iter().product();
    let outer: usize = from[..axis.dimension].iter().product();
    for (at, beyond) in beyond.iter_mut().enumerate() {
        let sample = axis.sample(filter, at);
        *beyond = sample == Sample::Outside;
        for row in 0..outer {
            let slice = &elements[row * axis.extent * inner..][..axis.extent * inner];
            let result = &mut results[(row * axis.size + at) * inner..][..inner];
            for (lane, result) in result.iter_mut().enumerate() {
                *result = sampled(&sample, |element| slice[element * inner + lane]);
            }
        }
    }
    results
}

fn sampled<T: Num<Acc = T>>(sample: &Sample, element: impl Fn(usize) -> T) -> T {
    match sample {
        Sample::Outside => T::ZERO,
        Sample::Element(at) => element(*at),
        Sample::Between { low, high, part } => {
            let rest = element(*low).mul(T::cast_f64(1.0 - part));
            element(*high).fma(T::cast_f64(*part), rest)
        }
        Sample::Chain(taps) => taps.iter().fold(T::ZERO, |sum, &(at, weight)| {
            element(at).fma(T::cast_f64(weight), sum)
        }),
    }
}
