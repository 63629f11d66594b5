//! Telling two results apart.

use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use thiserror::Error;

use crate::raw::Scalar;

/// The first difference between two lists of tensors.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Mismatch {
    /// There are more or fewer tensors.
    #[error("expected {expected} outputs, found {found}")]
    Count {
        /// How many were expected.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An output has another dtype.
    #[error("output {output} is {found}, expected {expected}")]
    DType {
        /// The output's position.
        output: usize,
        /// The expected dtype.
        expected: DType,
        /// The dtype it has.
        found: DType,
    },
    /// An output has another shape.
    #[error("output {output} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The output's position.
        output: usize,
        /// The expected shape.
        expected: Vec<usize>,
        /// The shape it has.
        found: Vec<usize>,
    },
    /// Elements of an output have other bits.
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
        /// The element there is.
        found: Scalar,
        /// How many elements differ.
        differing: usize,
        /// How many elements the output has.
        count: usize,
    },
}

/// Whether both lists have the same dtypes, shapes and bits, any NaN equal to any NaN.
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

/// How two tensors that are not the same differ.
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

/// The position of the `flat`-th element in row-major order.
fn position(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, &extent) in index.iter_mut().zip(shape).rev() {
        (*at, flat) = (flat % extent, flat / extent);
    }
    index
}
