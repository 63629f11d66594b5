//! Algorithms of routines that C and object files can implement too.

use mind_ir::types::DType;

use super::IndexType;

/// The algorithm of a routine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// Sorts elements.
    Sort(Sorting),
    /// Writes elements at indexed positions.
    Scatter(Scattering),
    /// Samples an image between its elements.
    Sample(Sampling),
    /// Returns the position of the largest element under each window.
    Search(Search),
    /// Checks extents, and copies elements.
    Extents(Extents),
}

impl Algorithm {
    /// Returns the sort; `None` if it is another algorithm.
    pub fn as_sort(&self) -> Option<Sorting> {
        match self {
            Algorithm::Sort(sorting) => Some(*sorting),
            Algorithm::Scatter(_)
            | Algorithm::Sample(_)
            | Algorithm::Search(_)
            | Algorithm::Extents(_) => None,
        }
    }

    /// Returns the sizes in bytes of the arrays that it reads, in order, followed by those that it writes.
    pub fn bytes(&self) -> Vec<usize> {
        match self {
            Algorithm::Sort(sorting) => sorting.bytes(),
            Algorithm::Scatter(scattering) => scattering.bytes(),
            Algorithm::Sample(sampling) => sampling.bytes(),
            Algorithm::Search(search) => search.bytes(),
            Algorithm::Extents(extents) => extents.bytes(),
        }
    }

    /// Returns whether all accesses are inside arrays of these sizes.
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

/// Returns the number of elements up to the last one that indices along `dimensions` can address; 0 if an extent is 0.
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

/// The product of extents, which does not overflow if one is 0 and the others are large.
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
    /// The number of elements.
    pub extent: usize,
    /// The distance between adjacent elements, in elements of the array.
    pub stride: usize,
}

/// A sort along the middle of three dimensions, stable in both directions. Returns the first elements in order and the
/// index that each had.
///
/// -0 equals +0; all NaNs are equal and greater than any number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sorting {
    /// The type of an element.
    pub dtype: DType,
    /// The dimensions.
    pub extents: [usize; 3],
    /// The number of elements to return along the middle dimension, at most its extent.
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

/// A copy of an array in which slices are updated at the positions given by tuples of indices, in order.
///
/// It reads the array, the indices and the updates.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Scattering {
    /// The type of an element.
    pub dtype: DType,
    /// The type of an index.
    pub index: IndexType,
    /// How an element and its update are combined.
    pub update: Update,
    /// The range of an index.
    pub bounds: Bounds,
    /// Elements of the array.
    pub elements: usize,
    /// The dimensions of the list of tuples; the stride is the offset in the array that the position of a tuple adds.
    pub tuples: Vec<Dimension>,
    /// The dimensions of the array that a tuple indexes.
    pub axes: Vec<Dimension>,
    /// Elements of a slice, which are contiguous.
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

/// How an element and its update are combined; the result is rounded to their type.
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

/// The range of an index along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bounds {
    /// From 0 to below the extent.
    Strict,
    /// From minus the extent, which counts from the end.
    FromEnd,
    /// Any; an index out of range is clamped.
    Clamp,
    /// Any; an update out of range is skipped.
    Skip,
}

/// Samples images at the coordinates of a grid, which are given innermost dimension first.
///
/// It reads the images and the grid. Each element is one chain of fused multiply-adds over the taps, row-major, in `f32`,
/// or `f64` for `f64`; coordinates and weights are computed in `f64`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sampling {
    /// The type of an element of the images.
    pub dtype: DType,
    /// The type of a coordinate, a float.
    pub grid: DType,
    /// The number of images.
    pub images: usize,
    /// The number of points at which each image is sampled.
    pub points: usize,
    /// The extents of an image, each 1 or more.
    pub extents: Vec<usize>,
    /// The number of channels.
    pub channels: usize,
    /// Whether the layout is channels-last; otherwise it is channels-first.
    pub has_channels_last: bool,
    /// The interpolation.
    pub between: Between,
    /// The meaning of a coordinate.
    pub coordinates: Coordinates,
    /// The padding.
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

/// Interpolation between elements of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Between {
    /// The nearest element; ties go to the even index.
    Nearest,
    /// Linear, with two taps.
    Linear,
    /// Cubic with coefficient -0.75, with four taps.
    Cubic,
}

/// The meaning of a coordinate along `n` elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coordinates {
    /// From -1 at the left edge of the first element to 1 at the right edge of the last.
    HalfPixel,
    /// From -1 at the centre of the first element to 1 at that of the last.
    AlignCorners,
    /// The index of an element.
    Pixel,
}

/// Padding: the value of elements outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Beyond {
    /// The constant with these bits, as `f64`.
    Fill(u64),
    /// The nearest element.
    Border,
    /// Reflection about the centres of the first and the last element.
    MirrorCentres,
    /// Reflection about the edges.
    MirrorEdges,
}

/// Returns the row-major index of the largest element under the window at each position, -1 if the window is empty.
///
/// The first of equal elements is chosen; -0 equals +0, and a NaN is greater than any number.
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

/// The sliding of a window along one dimension: tap `t` at position `p` reads element `p * stride + t * dilation -
/// low`, if that exists. For example, a window of 3 with a stride of 2 and `low` 1 reads elements -1, 0 and 1 at
/// position 0, of which the first does not exist.
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
    /// The padding before the first element.
    pub low: i64,
}

impl Slide {
    /// Returns whether the element index of every tap at every position is computed without overflow.
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

/// A result whose shape is an operand. The extents must be those that the program was compiled for, because the program
/// is specialised to them.
///
/// It reads the operands of `elements`, then the extents.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Extents {
    /// The type of an extent.
    pub index: IndexType,
    /// The expected extents.
    pub extents: Vec<usize>,
    /// How the elements of the result are computed.
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

    /// Returns the number of elements of the result.
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

/// How the elements of a result of given extents are computed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Elements {
    /// Reshape: the elements of an array in order; errors if their number differs.
    Same {
        /// The number of elements.
        count: usize,
        /// Bytes of an element.
        size: usize,
    },
    /// Broadcast: the elements of an array, repeated along dimensions.
    Stretched {
        /// The number of elements of the array.
        count: usize,
        /// Bytes of an element.
        size: usize,
        /// The stride of each dimension in the array, 0 along repeated ones.
        strides: Vec<usize>,
    },
    /// Iota: the index along a dimension.
    Indices {
        /// The type of the result; the index is rounded to it.
        dtype: DType,
        /// The dimension.
        axis: usize,
    },
}
