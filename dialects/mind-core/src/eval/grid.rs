//! Sampling of images at the coordinates of a grid.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Num, Tensor, row_major};
use mind_ir::types::DType;
use smallvec::{SmallVec, smallvec};

use super::chain::extend;
use super::convert::cast;
use super::resize::{Interpolation, cubic};
use crate::convolve::Layout;

mind_ir::words! {
    /// The coordinate system of a grid along an axis of `n` elements.
    pub enum GridCoordinates {
        /// From -1 at the outer edge of the first element to 1 at that of the last.
        HalfPixel = "half_pixel",
        /// From -1 at the centre of the first element to 1 at that of the last.
        AlignCorners = "align_corners",
        /// Element indices.
        Pixel = "pixel",
    }

    /// The values outside of an image.
    pub enum GridPadding {
        /// The fill.
        Constant = "constant",
        /// The nearest element.
        Border = "border",
        /// The reflected image: about the edges with `half_pixel`, otherwise about the centres of the first and last
        /// elements.
        Reflect = "reflect",
        /// The image reflected about the edges.
        Symmetric = "symmetric",
    }
}

/// The number of points whose taps are kept in memory at once.
const BLOCK: usize = 512;

/// The coefficient of the cubic convolution.
const CUBIC_A: f64 = -0.75;

/// The attributes of a grid sampling.
#[derive(Clone, Copy, Debug)]
pub struct GridSampling {
    /// The interpolation between elements.
    pub mode: Interpolation,
    /// The coordinate system of the grid.
    pub coordinates: GridCoordinates,
    /// The values outside of the image.
    pub padding: GridPadding,
    /// The value outside of the image with [`GridPadding::Constant`].
    pub fill: f64,
}

/// The extents of a batch of images and the number of points sampled in each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Images {
    /// The number of images.
    pub count: usize,
    /// The number of points for each image.
    pub points: usize,
    /// The spatial extents, each 1 or more.
    pub extents: Vec<usize>,
    /// The number of channels.
    pub channels: usize,
    /// Whether the channels of one pixel are contiguous (NHWC); otherwise the pixels of one channel are (NCHW).
    pub has_channels_last: bool,
}

impl Images {
    /// Returns the extents for images of shape `images`, `[N, s.., C]` or `[N, C, s..]`, and a grid of shape `grid`,
    /// `[N, o.., r]`.
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

/// A tap along one axis: the element, or `None` for the fill, and its weight.
type Tap = (Option<usize>, f64);

/// The taps along an axis.
type AxisTaps = SmallVec<[Tap; 4]>;

/// The taps of a block of points; the taps of one point are contiguous and in row-major order.
struct Taps<T> {
    /// The offset of each tap within its channel; `None` for the fill.
    offsets: Vec<Option<usize>>,
    weights: Vec<T>,
    /// For each point, whether its coordinates are numbers. The result of other points is NaN.
    are_numbers: Vec<bool>,
    /// The number of taps of one point.
    each: usize,
}

impl<T: Num<Acc = T>> Taps<T> {
    /// Computes the taps of the points of `grid`. `axes` has the extent and stride of each spatial dimension.
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
            // A point lists its coordinates from the innermost axis to the outermost.
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

    /// Samples one channel, whose elements are `plane`, at every point: a chain over the taps.
    fn sum_points(&self, from: (&[T], T), sums: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if super::chain::has_fma() {
            // SAFETY: the processor has avx2 and fma, which `sum_points_fma` requires.
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

    /// Samples all channels at one point; the channels are contiguous in `image`.
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

    /// Appends the outer product of the taps along `axes`, starting from the offset and weight of the axes before.
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
    /// Samples `input` at the coordinates of `grid`; the result has the dtype of `input`.
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

    /// Samples at the coordinates of `grid` and writes to `results`, in the layout of the images.
    ///
    /// # Panics
    ///
    /// If the lengths of the slices do not match `images`.
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

    /// Returns the taps along an axis; `None` if the coordinate is NaN.
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
                // Only the taps are reflected, because reflecting the coordinate moves it into the image and changes
                // the weights of taps that are still outside.
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

    /// Returns the distance beyond which all taps are the nearest element, to which `border` clamps coordinates.
    fn margin(&self) -> f64 {
        match self.mode {
            Interpolation::Nearest | Interpolation::Linear => 0.0,
            Interpolation::Cubic => 2.0,
        }
    }

    /// Returns the element at an integral coordinate.
    fn element(&self, place: f64, last: f64) -> Option<usize> {
        let inside = match self.padding {
            GridPadding::Constant => place,
            GridPadding::Border => place.clamp(0.0, last),
            GridPadding::Reflect | GridPadding::Symmetric => self.mirrored(place, last),
        };
        (0.0..=last).contains(&inside).then_some(inside as usize)
    }

    /// Reflects `place` back and forth into 0 to `last`.
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

/// Returns `place` if it is finite, else NaN.
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
        // Every point is halfway between two elements; the last one is halfway to the fill.
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
