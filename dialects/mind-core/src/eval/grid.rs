//! Elements of an image at coordinates that a grid names.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Num, Tensor, row_major};
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

/// How many points' taps are kept at once.
const BLOCK: usize = 512;

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

/// Images one after the other, and how many points each is sampled at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Images {
    /// How many there are.
    pub count: usize,
    /// The points of each.
    pub points: usize,
    /// The spatial extents, each 1 or more.
    pub extents: Vec<usize>,
    /// The channels of an image.
    pub channels: usize,
    /// Whether the channels of an element stand side by side; otherwise the elements of a channel do.
    pub has_channels_last: bool,
}

impl Images {
    /// The images `[N, s.., C]` or `[N, C, s..]` of shape `images`, sampled at the points `[N, o.., r]` of shape `grid`.
    pub fn of(layout: Layout, images: &[usize], grid: &[usize]) -> Images {
        let spatial = images.len() - 2;
        let (first, channels) = layout.image(spatial);
        Images {
            count: images[0],
            points: grid[1..=spatial].iter().product(),
            extents: images[first..first + spatial].to_vec(),
            channels: images[channels],
            has_channels_last: match layout {
                Layout::Nhwc => true,
                Layout::Nchw => false,
            },
        }
    }
}

/// A tap along an axis: its element, `None` for the fill, and its weight.
type Tap = (Option<usize>, f64);

/// The taps along an axis.
type AxisTaps = SmallVec<[Tap; 4]>;

/// The taps of points one after the other, those of a point row-major.
struct Taps<T> {
    /// Where their elements are, counted from the first one of a channel; `None` for the fill.
    offsets: Vec<Option<usize>>,
    weights: Vec<T>,
    /// For each point whether its coordinates are numbers.
    are_numbers: Vec<bool>,
    /// Taps of a point.
    each: usize,
}

impl<T: Num<Acc = T>> Taps<T> {
    /// Those of the points of `grid`, along axes of these extents and strides.
    fn of(sampling: &GridSampling, grid: &[f64], axes: &[(usize, usize)]) -> Taps<T> {
        let along = match sampling.mode {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2,
            Interpolation::Cubic => 4usize,
        };
        let each = along.pow(axes.len() as u32);
        let points = grid.len() / axes.len();
        let mut all = Taps {
            offsets: Vec::with_capacity(points * each),
            weights: Vec::with_capacity(points * each),
            are_numbers: Vec::with_capacity(points),
            each,
        };
        for point in grid.chunks_exact(axes.len()) {
            // Coordinates begin with that of the innermost axis.
            let own = axes.iter().zip(point.iter().rev());
            let own = own.map(|(&(extent, stride), &number)| {
                let mut taps = sampling.taps(number, extent)?;
                for (element, _) in &mut taps {
                    *element = element.map(|element| element * stride);
                }
                Some(taps)
            });
            let own: Option<SmallVec<[AxisTaps; 3]>> = own.collect();
            all.are_numbers.push(own.is_some());
            match own {
                Some(own) => all.multiply(&own, Some(0), None),
                None => {
                    all.offsets.resize(all.offsets.len() + each, None);
                    all.weights.resize(all.weights.len() + each, T::ZERO);
                }
            }
        }
        all
    }

    /// One channel, whose elements are `plane`, at every point: a chain over its taps.
    fn sum_points(&self, from: (&[T], T), sums: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if super::chain::has_fma() {
            // SAFETY: the processor has avx2 and fma, the only requirement of `sum_points_fma`.
            return unsafe { self.sum_points_fma(from, sums) };
        }
        self.sum_points_portable(from, sums);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn sum_points_fma(&self, from: (&[T], T), sums: &mut [T]) {
        self.sum_points_portable(from, sums);
    }

    #[inline(always)]
    fn sum_points_portable(&self, (plane, fill): (&[T], T), sums: &mut [T]) {
        for (point, sum) in sums.iter_mut().enumerate() {
            if !self.are_numbers[point] {
                *sum = T::cast_f64(f64::NAN);
                continue;
            }
            let (first, mut chain) = (point * self.each, T::ZERO);
            for tap in first..first + self.each {
                let x = match self.offsets[tap] {
                    Some(offset) => plane[offset],
                    None => fill,
                };
                chain = x.fma(self.weights[tap], chain);
            }
            *sum = chain;
        }
    }

    /// All channels, side by side in `image`, at one point.
    fn sum_channels(&self, point: usize, (image, fill): (&[T], T), sums: &mut [T]) {
        if !self.are_numbers[point] {
            sums.fill(T::cast_f64(f64::NAN));
            return;
        }
        sums.fill(T::ZERO);
        let first = point * self.each;
        for tap in first..first + self.each {
            let weight = &self.weights[tap..=tap];
            match self.offsets[tap] {
                Some(offset) => extend(weight, &image[offset..][..sums.len()], sums),
                None => extend(weight, &vec![fill; sums.len()], sums),
            }
        }
    }

    /// Every combination of the taps along the axes, with the offset and the weight of those before.
    fn multiply(&mut self, axes: &[AxisTaps], offset: Option<usize>, weight: Option<T>) {
        let Some((first, others)) = axes.split_first() else {
            self.offsets.push(offset);
            self.weights.push(weight.unwrap_or(T::ONE));
            return;
        };
        for &(element, own) in first {
            let own = T::cast_f64(own);
            let offset = offset.zip(element).map(|(sum, element)| sum + element);
            let weight = weight.map_or(own, |weight| weight.mul(own));
            self.multiply(others, offset, Some(weight));
        }
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
        let (first, channels) = layout.image(spatial);
        let extents = &from[first..first + spatial];
        if to[0] != from[0] || to[spatial + 1] != spatial || extents.contains(&0) {
            let text = format!("a grid of {to:?} does not sample an image of {from:?}");
            return Err(EvalError::Shape(text));
        }
        let mut shape = to[..=spatial].to_vec();
        shape.insert(channels, from[channels]);
        cx.count(input.dtype(), &shape)?;
        let (images, dtype) = (Images::of(layout, from, to), input.dtype());
        let grid = cast(cx, grid, DType::F64)?;
        let grid = grid.elements::<f64>();
        let result = if dtype == DType::F64 {
            self.sampled::<f64>(&images, input, grid, shape)
        } else {
            self.sampled::<f32>(&images, &cast(cx, input, DType::F32)?, grid, shape)
        };
        cast(cx, &result, dtype)
    }

    fn sampled<T: Num<Acc = T>>(
        &self,
        images: &Images,
        input: &Tensor,
        grid: &[f64],
        shape: Vec<usize>,
    ) -> Tensor {
        let mut results = vec![T::ZERO; shape.iter().product()];
        self.sample_into(images, input.elements::<T>(), grid, &mut results);
        Tensor::of(shape, results)
    }

    /// Writes the elements at the coordinates of `grid` to `results`, laid out as the images are.
    ///
    /// # Panics
    ///
    /// If the slices are not as long as `images` says.
    pub fn sample_into<T: Num<Acc = T>>(
        &self,
        images: &Images,
        elements: &[T],
        grid: &[f64],
        results: &mut [T],
    ) {
        let Images {
            points, channels, ..
        } = *images;
        if results.is_empty() {
            return;
        }
        let count: usize = images.extents.iter().product();
        let strides = row_major(&images.extents);
        let step = if images.has_channels_last {
            channels
        } else {
            1
        };
        let strides = strides.into_iter().map(|stride| stride * step);
        let axes: Vec<(usize, usize)> = images.extents.iter().copied().zip(strides).collect();
        let grids = grid.chunks_exact(points * axes.len());
        let results = results.chunks_exact_mut(points * channels);
        for ((image, grid), results) in elements
            .chunks_exact(count * channels)
            .zip(grids)
            .zip(results)
        {
            for (block, grid) in grid.chunks(BLOCK * axes.len()).enumerate() {
                let (first, own) = (block * BLOCK, grid.len() / axes.len());
                let taps = Taps::of(self, grid, &axes);
                let fill = T::cast_f64(self.fill);
                if images.has_channels_last {
                    let results =
                        results[first * channels..][..own * channels].chunks_exact_mut(channels);
                    for (point, sums) in results.enumerate() {
                        taps.sum_channels(point, (image, fill), sums);
                    }
                } else {
                    let planes = image.chunks_exact(count);
                    for (plane, sums) in planes.zip(results.chunks_exact_mut(points)) {
                        taps.sum_points((plane, fill), &mut sums[first..][..own]);
                    }
                }
            }
        }
    }

    /// The taps along an axis; `None` for a coordinate that is NaN.
    fn taps(&self, number: f64, extent: usize) -> Option<AxisTaps> {
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
            GridPadding::Border => {
                let margin = self.margin();
                place.clamp(-margin, last + margin)
            }
            GridPadding::Reflect | GridPadding::Symmetric => match self.mode {
                Interpolation::Nearest | Interpolation::Linear => self.mirrored(place, last),
                // Only the taps are reflected, because reflecting the coordinate moves it into the image and changes the
                // weights of taps that are still outside.
                Interpolation::Cubic => finite_or_nan(place),
            },
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

    /// How far beyond the ends a coordinate counts with `border`: until all taps are the nearest element.
    fn margin(&self) -> f64 {
        match self.mode {
            Interpolation::Nearest | Interpolation::Linear => 0.0,
            Interpolation::Cubic => 2.0,
        }
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

/// A finite `place`, else NaN.
fn finite_or_nan(place: f64) -> f64 {
    if place.is_finite() { place } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_every_block_are_sampled_in_both_layouts() {
        let (points, channels) = (2 * BLOCK + 77, 3);
        let sampling = GridSampling {
            mode: Interpolation::Linear,
            coordinates: GridCoordinates::Pixel,
            padding: GridPadding::Constant,
            fill: -1.0,
        };
        // Every point lies between two elements, and the last one is half outside.
        let grid: Vec<f64> = (0..points).map(|at| at as f64 + 0.5).collect();
        let element = |at: usize, channel: usize| (10 * at + channel) as f32;
        for has_channels_last in [true, false] {
            let images = Images {
                count: 1,
                points,
                extents: vec![points],
                channels,
                has_channels_last,
            };
            let place = |at: usize, channel: usize| match has_channels_last {
                true => at * channels + channel,
                false => channel * points + at,
            };
            let mut elements = vec![0.0; points * channels];
            for at in 0..points {
                for channel in 0..channels {
                    elements[place(at, channel)] = element(at, channel);
                }
            }
            let mut results = vec![0.0f32; points * channels];
            sampling.sample_into(&images, &elements, &grid, &mut results);
            for at in 0..points {
                for channel in 0..channels {
                    let next = if at + 1 == points {
                        -1.0
                    } else {
                        element(at + 1, channel)
                    };
                    let expected = 0.5 * (element(at, channel) + next);
                    assert_eq!(results[place(at, channel)], expected, "{at} {channel}");
                }
            }
        }
    }
}
