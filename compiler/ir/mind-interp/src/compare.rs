//! Bitwise comparison of results.

use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use thiserror::Error;

use crate::raw::Scalar;

/// The first difference between two lists of tensors.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Mismatch {
    /// The lists have different lengths.
    #[error("expected {expected} outputs, found {found}")]
    Count {
        /// The expected number of outputs.
        expected: usize,
        /// The number of outputs.
        found: usize,
    },
    /// An output has a different dtype.
    #[error("output {output} is {found}, expected {expected}")]
    DType {
        /// The output's position.
        output: usize,
        /// The expected dtype.
        expected: DType,
        /// The actual dtype.
        found: DType,
    },
    /// An output has a different shape.
    #[error("output {output} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The output's position.
        output: usize,
        /// The expected shape.
        expected: Vec<usize>,
        /// The actual shape.
        found: Vec<usize>,
    },
    /// Elements of an output have different bits.
    #[error(
        "output {output} differs at {index:?}: expected {expected} ({:#x}), found {found} ({:#x}); \
         {differing} of {count} elements differ",
        expected.bits(), found.bits()
    )]
    Element {
        /// The output's position.
        output: usize,
        /// The position of the first element that differs.
        index: Vec<usize>,
        /// The expected element.
        expected: Scalar,
        /// The actual element.
        found: Scalar,
        /// The number of elements that differ.
        differing: usize,
        /// The number of elements of the output.
        count: usize,
    },
}

/// Compares the dtypes, shapes and bits of two lists of tensors. All NaNs are equal.
///
/// # Errors
///
/// The first difference.
pub fn compare(expected: &[Tensor], found: &[Tensor]) -> Result<(), Mismatch> {
    if expected.len() != found.len() {
        return Err(Mismatch::Count {
            expected: expected.len(),
            found: found.len(),
        });
    }
    for (output, (expected, found)) in expected.iter().zip(found).enumerate() {
        if !expected.same_bits(found) {
            return Err(mismatch(output, expected, found));
        }
    }
    Ok(())
}

/// Returns the difference between two tensors that are not equal.
fn mismatch(output: usize, expected: &Tensor, found: &Tensor) -> Mismatch {
    if expected.dtype() != found.dtype() {
        return Mismatch::DType {
            output,
            expected: expected.dtype(),
            found: found.dtype(),
        };
    }
    if expected.shape() != found.shape() {
        let (expected, found) = (expected.shape().to_vec(), found.shape().to_vec());
        return Mismatch::Shape {
            output,
            expected,
            found,
        };
    }
    let pair = |at: usize| (Scalar::at(expected, at), Scalar::at(found, at));
    let differ = |&at: &usize| {
        let (x, y) = pair(at);
        !x.same_bits(y)
    };
    let count = expected.count();
    let first = (0..count)
        .find(differ)
        .expect("tensors that are not the same differ somewhere");
    let (x, y) = pair(first);
    Mismatch::Element {
        output,
        index: position(first, expected.shape()),
        expected: x,
        found: y,
        differing: (first..count).filter(differ).count(),
        count,
    }
}

/// Returns the index of the `flat`-th element in row-major order.
fn position(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &extent) in index.iter_mut().zip(shape).rev() {
        (*at, flat) = (flat % extent, flat / extent);
    }
    index
}
