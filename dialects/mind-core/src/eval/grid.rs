//! Elements of an image at coordinates that a grid names.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Num, Tensor, advance, row_major};
use mind_ir::types::DType;
use smallvec::{SmallVec, smallvec};

use super::chain::extend;
use super::convert::cast;
use super::resize::{Interpolation, cubic};
use crate::convolve::Layout;

mind_ir::words! {
    /// What the numbers of a grid mean along an axis of `n` elements.
    pub enum GridCoordinates {
        /// From -1 at the edge before the first element to 1 behind the last.
        HalfPixel = "half_pixel",
        /// From -1 at the centre of the first element to 1 at that of the last.
        AlignCorners = "align_corners",
        /// Indices of elements.
        Pixel = "pixel",
    }

    /// What is beyond the ends of an image.
    pub enum GridPadding {
        /// The fill.
        Constant = "constant",
        /// The nearest element.
        Border = "border",
        /// The mirror image, about the edges for `half_pixel` and about the centres of the first and the last element else.
        Reflect = "reflect",
        /// The mirror image about the edges.
        Symmetric = "symmetric",
    }
}

/// The coefficient of the cubic.
const CUBIC_A: f64 = -0.75;

/// How a grid samples an image.
#[derive(Clone, Copy, Debug)]
pub struct GridSampling {
    /// What is between elements.
    pub mode: Interpolation,
    /// What the numbers of the grid mean.
    pub coordinates: GridCoordinates,
    /// What is beyond the ends.
    pub padding: GridPadding,
    /// The number there, if it is one.
    pub fill: f64,
}

/// The first spatial dimension and that of the channels.
type Dimensions = (usize, usize);

/// A tap along an axis: its element, `None` for the fill, and its weight.
type Tap = (Option<usize>, f64);

/// The taps of a point, row-major: where their elements are from the first one of the image on, `None` for the fill, and
/// their weights.
struct Taps<T> {
    offsets: Vec<Option<usize>>,
    weights: Vec<T>,
}

impl<T> Default for Taps<T> {
    fn default() -> Taps<T> {
        Taps {
            offsets: Vec::new(),
            weights: Vec::new(),
        }
    }
}

impl<T: Num<Acc = T>> Taps<T> {
    /// Every combination of the taps along the axes, which come with the distances of elements; `None` if an axis has none.
    fn multiply(
        &mut self,
        along: impl Iterator<Item = Option<(SmallVec<[Tap; 4]>, usize)>>,
    ) -> Option<()> {
        self.offsets.clear();
        self.weights.clear();
        for (axis, taps) in along.enumerate() {
            let (taps, stride) = taps?;
            let taps = taps
                .into_iter()
                .map(|(element, weight)| (element.map(|own| own * stride), T::cast_f64(weight)));
            let taps: SmallVec<[(Option<usize>, T); 4]> = taps.collect();
            if axis == 0 {
                self.offsets.extend(taps.iter().map(|tap| tap.0));
                self.weights.extend(taps.iter().map(|tap| tap.1));
                continue;
            }
            let offsets = std::mem::take(&mut self.offsets).into_iter();
            let sum = |(own, tap): (Option<usize>, Option<usize>)| {
                own.zip(tap).map(|(own, tap)| own + tap)
            };
            self.offsets = offsets
                .flat_map(|own| taps.iter().map(move |tap| (own, tap.0)))
                .map(sum)
                .collect();
            let weights = std::mem::take(&mut self.weights).into_iter();
            self.weights = weights
                .flat_map(|own| taps.iter().map(move |tap| own.mul(tap.1)))
                .collect();
        }
        Some(())
    }
}

impl GridSampling {
    /// The elements of `input` at the coordinates of `grid`, in the dtype of `input`.
    ///
    /// # Errors
    ///
    /// Batches that differ, an axis without elements, E6004 too large.
    pub fn sample(
        &self,
        cx: &EvalCx<'_>,
        layout: Layout,
        input: &Tensor,
        grid: &Tensor,
    ) -> Result<Tensor, EvalError> {
        let spatial = input.rank() - 2;
        let (from, to) = (input.shape(), grid.shape());
        let dimensions @ (first, channels) = layout.image(spatial);
        let extents = &from[first..first + spatial];
        if to[0] != from[0] || to[spatial + 1] != spatial || extents.contains(&0) {
            let text = format!("a grid of {to:?} does not sample an image of {from:?}");
            return Err(EvalError::Shape(text));
        }
        let mut shape = to[..=spatial].to_vec();
        shape.insert(channels, from[channels]);
        cx.count(input.dtype(), &shape)?;
        let grid = cast(cx, grid, DType::F64)?;
        let dtype = input.dtype();
        let result = if dtype == DType::F64 {
            self.sample_as::<f64>(dimensions, input, &grid, shape)
        } else {
            self.sample_as::<f32>(dimensions, &cast(cx, input, DType::F32)?, &grid, shape)
        };
        cast(cx, &result, dtype)
    }

    fn sample_as<T: Num<Acc = T>>(
        &self,
        (first, channel): Dimensions,
        input: &Tensor,
        grid: &Tensor,
        shape: Vec<usize>,
    ) -> Tensor {
        let (from, coordinates) = (input.shape(), grid.elements::<f64>());
        let spatial = from.len() - 2;
        let count: usize = shape.iter().product();
        let mut results = vec![T::ZERO; count];
        if count == 0 {
            return Tensor::of(shape, results);
        }
        let (own, new) = (row_major(from), row_major(&shape));
        let (elements, fill) = (input.elements::<T>(), T::cast_f64(self.fill));
        let positions = &grid.shape()[..=spatial];
        let mut index = vec![0; positions.len()];
        let mut taps = Taps::default();
        // A row of the elements of all channels for each tap, and the sum of each channel.
        let (mut rows, mut sums) = (Vec::new(), vec![T::ZERO; from[channel]]);
        for place in coordinates.chunks_exact(spatial) {
            let along = (0..spatial).map(|at| {
                let taps = self.taps(place[spatial - 1 - at], from[first + at])?;
                Some((taps, own[first + at]))
            });
            if taps.multiply(along).is_some() {
                rows.clear();
                for &offset in &taps.offsets {
                    let start = offset.map(|offset| index[0] * own[0] + offset);
                    let element = |lane| match start {
                        Some(start) => elements[start + lane * own[channel]],
                        None => fill,
                    };
                    rows.extend((0..from[channel]).map(element));
                }
                sums.fill(T::ZERO);
                extend(&taps.weights, &rows, &mut sums);
            } else {
                sums.fill(T::cast_f64(f64::NAN));
            }
            let mut to = index[0] * new[0];
            for at in 0..spatial {
                to += index[1 + at] * new[first + at];
            }
            for (lane, &sum) in sums.iter().enumerate() {
                results[to + lane * new[channel]] = sum;
            }
            advance(&mut index, positions);
        }
        Tensor::of(shape, results)
    }

    /// The taps along an axis; `None` for a coordinate that is NaN.
    fn taps(&self, number: f64, extent: usize) -> Option<SmallVec<[Tap; 4]>> {
        let (n, last) = (extent as f64, extent as f64 - 1.0);
        let place = match self.coordinates {
            GridCoordinates::HalfPixel => ((number + 1.0) * n - 1.0) / 2.0,
            GridCoordinates::AlignCorners => (number + 1.0) * last / 2.0,
            GridCoordinates::Pixel => number,
        };
        let place = match self.mode {
            Interpolation::Nearest => place.round_ties_even(),
            Interpolation::Linear | Interpolation::Cubic => place,
        };
        let place = match self.padding {
            GridPadding::Constant => place,
            GridPadding::Border => place.clamp(0.0, last),
            GridPadding::Reflect | GridPadding::Symmetric => self.mirrored(place, last),
        };
        if place.is_nan() {
            return None;
        }
        let base = place.floor();
        let part = place - base;
        let tap = |offset: f64, weight: f64| (self.element(base + offset, last), weight);
        Some(match self.mode {
            Interpolation::Nearest => smallvec![tap(0.0, 1.0)],
            Interpolation::Linear => smallvec![tap(0.0, 1.0 - part), tap(1.0, part)],
            Interpolation::Cubic => {
                let weight = |offset: f64| cubic(CUBIC_A, (offset - part).abs());
                let offsets = [-1.0, 0.0, 1.0, 2.0];
                SmallVec::from_buf(offsets.map(|offset| tap(offset, weight(offset))))
            }
        })
    }

    /// The element at a whole place.
    fn element(&self, place: f64, last: f64) -> Option<usize> {
        let inside = match self.padding {
            GridPadding::Constant => place,
            GridPadding::Border => place.clamp(0.0, last),
            GridPadding::Reflect | GridPadding::Symmetric => self.mirrored(place, last),
        };
        (0.0..=last).contains(&inside).then_some(inside as usize)
    }

    /// Where a place that is reflected back and forth ends up, from 0 to `last`.
    fn mirrored(&self, place: f64, last: f64) -> f64 {
        let about_edges = self.padding == GridPadding::Symmetric
            || self.coordinates == GridCoordinates::HalfPixel;
        let low = if about_edges { -0.5 } else { 0.0 };
        let range = last - 2.0 * low;
        if range == 0.0 || (0.0..=last).contains(&place) {
            return if place.is_nan() {
                place
            } else {
                place.clamp(0.0, last)
            };
        }
        let round = (place - low).rem_euclid(2.0 * range);
        let back = if round > range {
            2.0 * range - round
        } else {
            round
        };
        (low + back).clamp(0.0, last)
    }
}
