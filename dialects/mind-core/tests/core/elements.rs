//! Test data, and element access by multi-index.

use mind_ir::tensor::{Buffer, Element, Num, Tensor};
use mind_ir::types::DType;

/// Returns a tensor of dtype `T` whose sum depends on the order of summation: fractions of both signs for floats, and
/// small integers.
pub fn sample<T: Num>(shape: &[usize], seed: usize) -> Tensor {
    let count = shape.iter().product();
    let element = |i: usize| {
        let mixed = (i + 1)
            .wrapping_mul(seed.wrapping_mul(2654435761) | 1)
            .wrapping_mul(40503)
            >> 7;
        let magnitude = T::from_count(mixed % 23);
        let magnitude = if T::IS_FLOAT {
            magnitude.div(T::from_count(7)).expect("floats divide")
        } else {
            magnitude
        };
        if mixed & 64 == 0 {
            magnitude
        } else {
            magnitude.neg()
        }
    };
    Tensor::of(shape.to_vec(), (0..count).map(element).collect::<Vec<T>>())
}

/// Returns a tensor of any dtype whose elements have recognisable bytes.
pub fn marked(dtype: DType, shape: &[usize]) -> Tensor {
    let empty = shape.contains(&0);
    let count: usize = if empty { 0 } else { shape.iter().product() };
    let element = |i: usize| {
        let mut bytes = vec![0; dtype.size()];
        bytes[0] = match dtype {
            DType::Bool => i.is_multiple_of(3).into(),
            _ => (i % 251) as u8,
        };
        bytes
    };
    let bytes: Vec<u8> = (0..count).flat_map(element).collect();
    Tensor::new(shape.to_vec(), Buffer::from_bytes(dtype, &bytes))
}

/// Returns a tensor of `T`.
pub fn of<T: Element>(shape: &[usize], elements: &[T]) -> Tensor {
    Tensor::of(shape.to_vec(), elements.to_vec())
}

/// Returns the multi-index of a position of `shape`.
pub fn unravel(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &extent) in index.iter_mut().zip(shape).rev() {
        (*at, position) = (position % extent, position / extent);
    }
    index
}

/// Returns the position of a multi-index in `shape`.
pub fn ravel(index: &[usize], shape: &[usize]) -> usize {
    assert_eq!(index.len(), shape.len());
    index.iter().zip(shape).fold(0, |position, (i, extent)| {
        assert!(i < extent, "{index:?} lies in {shape:?}");
        position * extent + i
    })
}

/// Returns every multi-index of `shape` in row-major order.
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let count: usize = shape.iter().product();
    (0..count).map(|position| unravel(position, shape))
}

/// Returns the element at a multi-index.
pub fn at<T: Element>(tensor: &Tensor, index: &[usize]) -> T {
    tensor.elements::<T>()[ravel(index, tensor.shape())]
}

/// Fails unless both tensors have the same dtype, shape and bits.
#[track_caller]
pub fn assert_same(found: &Tensor, expected: &Tensor, what: &str) {
    assert!(
        found.same_bits(expected),
        "{what}:\n   found {found:?}\nexpected {expected:?}"
    );
}
