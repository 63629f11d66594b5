//! What routines compute, where C and object files can say it, too.

use mind_ir::types::DType;

use super::IndexType;

/// What a routine computes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// Puts elements in order.
    Sort(Sorting),
    /// Writes elements at listed places.
    Scatter(Scattering),
    /// Reads an image between its elements.
    Sample(Sampling),
    /// Finds the largest elements under windows.
    Search(Search),
    /// Checks extents, and moves elements.
    Extents(Extents),
}

impl Algorithm {
    /// The sort that it is, if it is one.
    pub fn as_sort(&self) -> Option<Sorting> {
        match self {
            Algorithm::Sort(sorting) => Some(*sorting),
            Algorithm::Scatter(_)
            | Algorithm::Sample(_)
            | Algorithm::Search(_)
            | Algorithm::Extents(_) => None,
        }
    }

    /// The bytes of the arrays that it reads, in order, and then of those that it writes.
    pub fn bytes(&self) -> Vec<usize> {
        match self {
            Algorithm::Sort(sorting) => sorting.bytes(),
            Algorithm::Scatter(scattering) => scattering.bytes(),
            Algorithm::Sample(sampling) => sampling.bytes(),
            Algorithm::Search(search) => search.bytes(),
            Algorithm::Extents(extents) => extents.bytes(),
        }
    }

    /// Whether all that it reads and writes is in arrays of these bytes.
    pub fn stays_inside(&self) -> bool {
        match self {
            Algorithm::Sort(sorting) => sorting.kept <= sorting.extents[1],
            Algorithm::Scatter(scattering) => scattering.reach() <= scattering.elements,
            Algorithm::Sample(sampling) => sampling.stays_inside(),
            Algorithm::Search(search) => search.slides.iter().all(Slide::is_exact),
            Algorithm::Extents(extents) => extents.stays_inside(),
        }
    }
}

/// The elements up to the last one that indices along `dimensions` name; none if one has no index.
fn reach(dimensions: impl IntoIterator<Item = Dimension>) -> usize {
    let mut last = 0usize;
    for Dimension { extent, stride } in dimensions {
        let Some(most) = extent.checked_sub(1) else {
            return 0;
        };
        last = last.saturating_add(most.saturating_mul(stride));
    }
    last.saturating_add(1)
}

/// The product of extents, of which one may be 0 and others large.
fn product(extents: impl IntoIterator<Item = usize>) -> usize {
    let extents: Vec<usize> = extents.into_iter().collect();
    if extents.contains(&0) {
        return 0;
    }
    extents.into_iter().fold(1, usize::saturating_mul)
}

/// A dimension of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dimension {
    /// How many elements it has.
    pub extent: usize,
    /// From one of them to the next, in elements of the array.
    pub stride: usize,
}

/// A sort, stable in both directions, of the elements along the middle of three dimensions: the first ones in order, and
/// the index that each had.
///
/// -0 equals +0, all NaNs are equal and above everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sorting {
    /// The type of an element.
    pub dtype: DType,
    /// The dimensions.
    pub extents: [usize; 3],
    /// How many elements of the middle dimension are wanted, at most all.
    pub kept: usize,
    /// Whether the largest comes first.
    pub is_descending: bool,
}

impl Sorting {
    fn bytes(&self) -> Vec<usize> {
        let ([outer, extent, inner], kept) = (self.extents, self.kept);
        let bytes = |count, size| product([outer, count, inner, size]);
        let size = self.dtype.size();
        vec![bytes(extent, size), bytes(kept, size), bytes(kept, 8)]
    }
}

/// A copy of an array, with slices of updates joined to it at the places that tuples of indices name, one after the other.
///
/// It reads the array, the indices and the updates.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Scattering {
    /// The type of an element.
    pub dtype: DType,
    /// The type of an index.
    pub index: IndexType,
    /// What happens to the element at a place.
    pub update: Update,
    /// What an index may be.
    pub bounds: Bounds,
    /// Elements of the array.
    pub elements: usize,
    /// The dimensions of the list of tuples; the stride is what a tuple's own position adds to its place.
    pub tuples: Vec<Dimension>,
    /// The dimensions of the array that the indices of a tuple are along.
    pub axes: Vec<Dimension>,
    /// Elements of a slice, which stand side by side.
    pub width: usize,
}

impl Scattering {
    fn reach(&self) -> usize {
        let within = Dimension {
            extent: self.width,
            stride: 1,
        };
        let all = self.tuples.iter().chain(&self.axes).chain([&within]);
        reach(all.copied())
    }

    fn bytes(&self) -> Vec<usize> {
        let tuples = product(self.tuples.iter().map(|own| own.extent));
        let size = self.dtype.size();
        let array = product([self.elements, size]);
        vec![
            array,
            product([tuples, self.axes.len(), self.index.size()]),
            product([tuples, self.width, size]),
            array,
        ]
    }
}

/// What becomes of an element and its update, rounded to their type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Update {
    /// The update.
    Replace,
    /// Their sum.
    Add,
    /// Their product.
    Mul,
    /// The smaller one, NaN if either is; -0 is below +0.
    Min,
    /// The larger one, NaN if either is; -0 is below +0.
    Max,
}

/// What an index along a dimension may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bounds {
    /// From 0 to below the extent.
    Strict,
    /// As well from minus the extent, counted from the end.
    FromEnd,
    /// Any; the nearest place counts.
    Clamp,
    /// Any; nothing is done outside.
    Skip,
}

/// The elements of images at the coordinates of a grid, the innermost dimension's first.
///
/// It reads the images and the grid. Each element is one chain of fused multiply-adds over the taps, row-major, in `f32`,
/// or `f64` for `f64`; coordinates and weights are computed in `f64`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sampling {
    /// The type of an element of the images.
    pub dtype: DType,
    /// The type of a coordinate, a float.
    pub grid: DType,
    /// How many images there are.
    pub images: usize,
    /// How many points each is sampled at.
    pub points: usize,
    /// The extents of an image, each 1 or more.
    pub extents: Vec<usize>,
    /// How many channels an image has.
    pub channels: usize,
    /// Whether the channels of an element stand side by side; otherwise the elements of a channel do.
    pub has_channels_last: bool,
    /// What is between elements.
    pub between: Between,
    /// What the numbers of the grid mean.
    pub coordinates: Coordinates,
    /// What is beyond the ends.
    pub beyond: Beyond,
}

impl Sampling {
    fn stays_inside(&self) -> bool {
        let is_float = self.dtype.is_float() && self.grid.is_float();
        is_float && (1..=3).contains(&self.extents.len()) && !self.extents.contains(&0)
    }

    fn bytes(&self) -> Vec<usize> {
        let (images, channels, size) = (self.images, self.channels, self.dtype.size());
        let image = self.extents.iter().copied();
        vec![
            product(image.chain([images, channels, size])),
            product([images, self.points, self.extents.len(), self.grid.size()]),
            product([images, self.points, channels, size]),
        ]
    }
}

/// What is between the elements of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Between {
    /// The nearest element, of two the even one.
    Nearest,
    /// A line, between two taps.
    Linear,
    /// A cubic of coefficient -0.75, over four taps.
    Cubic,
}

/// What a number means along `n` elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coordinates {
    /// From -1 at the edge before the first element to 1 behind the last.
    HalfPixel,
    /// From -1 at the centre of the first element to 1 at that of the last.
    AlignCorners,
    /// The index of an element.
    Pixel,
}

/// What is beyond the ends of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Beyond {
    /// The number with these bits, as `f64`.
    Fill(u64),
    /// The nearest element.
    Border,
    /// The mirror image about the centres of the first and the last element.
    MirrorCentres,
    /// The mirror image about the edges.
    MirrorEdges,
}

/// Of the elements under a window at every position the row-major index of the largest, -1 if there is none.
///
/// Of equal elements the first is chosen; -0 equals +0, and a NaN is above everything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Search {
    /// The type of an element.
    pub dtype: DType,
    /// How the window slides along each dimension.
    pub slides: Vec<Slide>,
}

impl Search {
    fn bytes(&self) -> Vec<usize> {
        let size = self.dtype.size();
        let read = self.slides.iter().map(|slide| slide.extent);
        let positions = self.slides.iter().map(|slide| slide.positions);
        vec![product(read.chain([size])), product(positions.chain([8]))]
    }
}

/// The sliding of a window along one dimension: tap `t` at position `p` is element `p * stride + t * dilation - low`, if
/// there is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slide {
    /// Elements.
    pub extent: usize,
    /// Positions of the window.
    pub positions: usize,
    /// Taps.
    pub window: usize,
    /// Elements from one position to the next.
    pub stride: i64,
    /// Elements from one tap to the next, 1 or more.
    pub dilation: i64,
    /// How far the first tap at the first position is before the first element.
    pub low: i64,
}

impl Slide {
    /// Whether the element of no tap at any position overflows.
    fn is_exact(&self) -> bool {
        let last = |count: usize, step: i64| count.saturating_sub(1) as i128 * i128::from(step);
        let most = last(self.positions, self.stride) + last(self.window, self.dilation);
        let [extent, low] = [self.extent as i128, i128::from(self.low)];
        let numbers = [
            most,
            extent + low,
            self.positions as i128,
            self.window as i128,
        ];
        self.dilation > 0
            && self.stride >= 0
            && self.low >= 0
            && numbers.iter().all(|&number| number <= i128::from(i64::MAX))
    }
}

/// A result whose extents an array of indices gives, which must be those that the program was made for.
///
/// It reads what `elements` says and then the extents.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Extents {
    /// The type of an extent.
    pub index: IndexType,
    /// What the extents must be.
    pub extents: Vec<usize>,
    /// What the result holds.
    pub elements: Elements,
}

impl Extents {
    fn stays_inside(&self) -> bool {
        match &self.elements {
            Elements::Same { .. } => true,
            Elements::Stretched { count, strides, .. } => {
                let pairs = self.extents.iter().zip(strides);
                let dimensions = pairs.map(|(&extent, &stride)| Dimension { extent, stride });
                strides.len() == self.extents.len() && reach(dimensions) <= *count
            }
            Elements::Indices { axis, .. } => *axis < self.extents.len(),
        }
    }

    /// How many elements the result has.
    pub fn count(&self) -> usize {
        product(self.extents.iter().copied())
    }

    fn bytes(&self) -> Vec<usize> {
        let extents = product([self.extents.len(), self.index.size()]);
        let result = |size| product([self.count(), size]);
        match &self.elements {
            Elements::Same { count, size } | Elements::Stretched { count, size, .. } => {
                vec![product([*count, *size]), extents, result(*size)]
            }
            Elements::Indices { dtype, .. } => vec![extents, result(dtype.size())],
        }
    }
}

/// What a result of given extents holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Elements {
    /// The elements of an array in order; the extents are wrong if it has another number of them.
    Same {
        /// How many it has.
        count: usize,
        /// Bytes of one.
        size: usize,
    },
    /// The elements of an array, repeated along dimensions.
    Stretched {
        /// How many it has.
        count: usize,
        /// Bytes of one.
        size: usize,
        /// For each dimension, how far its elements are apart in the array, 0 where they repeat.
        strides: Vec<usize>,
    },
    /// The index along a dimension.
    Indices {
        /// The type that it is rounded to.
        dtype: DType,
        /// The dimension.
        axis: usize,
    },
}
