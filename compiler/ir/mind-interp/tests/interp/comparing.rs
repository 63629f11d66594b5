//! Bitwise comparison.

use mind_interp::{Mismatch, compare};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;

fn row(values: &[f32]) -> Tensor {
    Tensor::of(vec![values.len()], values.to_vec())
}

#[test]
fn any_nan_equals_any_nan_and_zeros_differ() {
    let nan = f32::from_bits(0xffc0_0001);
    assert_eq!(
        compare(&[row(&[f32::NAN, 1.0])], &[row(&[nan, 1.0])]),
        Ok(())
    );
    assert!(compare(&[row(&[0.0])], &[row(&[-0.0])]).is_err());
}

#[test]
fn a_mismatch_names_output_index_values_and_bits() {
    let expected = Tensor::of(vec![2, 2], vec![1f32, 2.0, 3.0, f32::NAN]);
    let found = Tensor::of(vec![2, 2], vec![1f32, 2.0, 3.0000002, 4.0]);
    let mismatch = compare(&[row(&[]), expected], &[row(&[]), found]).unwrap_err();
    assert_eq!(
        mismatch.to_string(),
        "output 1 differs at [1, 0]: expected 3.0 (0x40400000), found 3.0000002 (0x40400001); \
         2 of 4 elements differ"
    );
}

#[test]
fn counts_dtypes_and_shapes_are_compared_first() {
    let one = || row(&[1.0]);
    let counts = compare(&[one()], &[]);
    assert_eq!(
        counts,
        Err(Mismatch::Count {
            expected: 1,
            found: 0
        })
    );
    let dtypes = compare(&[one()], &[Tensor::of(vec![1], vec![1f64])]);
    let (expected, found) = (DType::F32, DType::F64);
    assert_eq!(
        dtypes,
        Err(Mismatch::DType {
            output: 0,
            expected,
            found
        })
    );
    let shapes = compare(&[one()], &[one().with_shape(vec![1, 1])]);
    assert_eq!(
        shapes.unwrap_err().to_string(),
        "output 0 has shape [1, 1], expected [1]"
    );
}
