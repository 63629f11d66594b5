//! Tensors with contents: what evaluation takes and gives.

mod buffer;
mod element;
mod elements;
mod strides;

pub use buffer::{Buffer, Element, rust_types};
pub use element::{FloatNum, Num};
pub(crate) use elements::SHARED_FROM;
pub use elements::{Elements, Plain};
pub use strides::{Strides, advance, broadcast_strides, row_major};

use crate::types::DType;

/// A tensor in memory, row-major. Copies of a large one share its elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    shape: Vec<usize>,
    buffer: Buffer,
}

impl Tensor {
    /// The tensor of `buffer`'s elements in `shape`. Panics when their counts differ.
    pub fn new(shape: Vec<usize>, buffer: Buffer) -> Tensor {
        // The extents beside a 0 may have a product that does not fit.
        let count: usize = if shape.contains(&0) {
            0
        } else {
            shape.iter().product()
        };
        assert_eq!(count, buffer.len(), "a buffer fills its shape");
        Tensor { shape, buffer }
    }

    /// The tensor of `elements` in `shape`. Panics when their counts differ.
    pub fn of<T: Element>(shape: Vec<usize>, elements: Vec<T>) -> Tensor {
        Tensor::new(shape, T::wrap(elements))
    }

    /// A tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor::of(Vec::new(), vec![value])
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.buffer.dtype()
    }

    /// Extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.buffer.len()
    }

    /// The elements in row-major order.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The elements in row-major order, without the shape.
    pub fn into_buffer(self) -> Buffer {
        self.buffer
    }

    /// The elements, when they are of type `T`. Panics on another dtype.
    pub fn elements<T: Element>(&self) -> &[T] {
        T::peek(&self.buffer).expect("elements are read in their own dtype")
    }

    /// The same elements in another shape of as many. Panics when the counts differ.
    pub fn with_shape(self, shape: Vec<usize>) -> Tensor {
        Tensor::new(shape, self.buffer)
    }

    /// Whether both have the same dtype, shape and bits, any NaN equal to any NaN.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        self.shape == other.shape && self.buffer.same_bits(&other.buffer)
    }
}
