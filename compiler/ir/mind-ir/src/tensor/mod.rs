//! Tensors, the operands and results of evaluation.

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

/// A tensor in memory, row-major. Copies of a large tensor share its elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    shape: Vec<usize>,
    buffer: Buffer,
}

impl Tensor {
    /// Returns the tensor with these elements.
    ///
    /// # Panics
    ///
    /// If the number of elements does not fit the shape.
    pub fn new(shape: Vec<usize>, buffer: Buffer) -> Tensor {
        // The product of the other extents may overflow if one extent is 0.
        let count: usize = if shape.contains(&0) {
            0
        } else {
            shape.iter().product()
        };
        assert_eq!(count, buffer.len(), "a buffer fills its shape");
        Tensor { shape, buffer }
    }

    /// Returns the tensor with these elements.
    ///
    /// # Panics
    ///
    /// If the number of elements does not fit the shape.
    pub fn of<T: Element>(shape: Vec<usize>, elements: Vec<T>) -> Tensor {
        Tensor::new(shape, T::wrap(elements))
    }

    /// Returns a tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor::of(Vec::new(), vec![value])
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DType {
        self.buffer.dtype()
    }

    /// Returns the extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.buffer.len()
    }

    /// Returns the elements in row-major order.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the elements in row-major order, and drops the shape.
    pub fn into_buffer(self) -> Buffer {
        self.buffer
    }

    /// Returns the elements, which must be of type `T`.
    ///
    /// # Panics
    ///
    /// If the tensor has another dtype.
    pub fn elements<T: Element>(&self) -> &[T] {
        T::peek(&self.buffer).expect("elements are read in their own dtype")
    }

    /// Returns the tensor with another shape of the same number of elements.
    ///
    /// # Panics
    ///
    /// If the number of elements does not fit the shape.
    pub fn with_shape(self, shape: Vec<usize>) -> Tensor {
        Tensor::new(shape, self.buffer)
    }

    /// Whether both have the same dtype, shape and bits. All NaNs are equal.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        self.shape == other.shape && self.buffer.same_bits(&other.buffer)
    }
}
