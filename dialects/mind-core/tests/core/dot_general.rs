//! Products with paired dimensions.

use mind_core::ops::contract::MatMul;
use mind_core::ops::convolution::SumType;
use mind_core::ops::dot_general::DotGeneral;
use mind_ir::attr::Attr;
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::rust_types::F16;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{FOLD, OPEN, RUN};

/// Batch and contracted dimensions of `lhs`, then those of `rhs`.
type Lists = [&'static [i64]; 4];

fn attrs(lists: Lists, dtype: SumType) -> Vec<Attr<'static>> {
    let [lhs_batch, lhs_contract, rhs_batch, rhs_contract] = lists;
    DotGeneral::attrs(lhs_batch, rhs_batch, lhs_contract, rhs_contract, dtype)
}

/// Computes each element as a chain over the contracted indices in row-major order.
fn product<T: Num>(lhs: &Tensor, rhs: &Tensor, lists: Lists) -> Tensor {
    let dims = |axes: &[i64]| -> Vec<usize> { axes.iter().map(|&axis| axis as usize).collect() };
    let [lhs_batch, lhs_contract, rhs_batch, rhs_contract] = lists.map(dims);
    let free = |tensor: &Tensor, named: [&[usize]; 2]| -> Vec<usize> {
        let all = 0..tensor.rank();
        all.filter(|axis| !named.concat().contains(axis)).collect()
    };
    let lhs_free = free(lhs, [&lhs_batch, &lhs_contract]);
    let rhs_free = free(rhs, [&rhs_batch, &rhs_contract]);
    let extents = |tensor: &Tensor, axes: &[usize]| -> Vec<usize> {
        axes.iter().map(|&axis| tensor.shape()[axis]).collect()
    };
    let shape = [
        extents(lhs, &lhs_batch),
        extents(lhs, &lhs_free),
        extents(rhs, &rhs_free),
    ]
    .concat();
    let inner = extents(lhs, &lhs_contract);
    let element = |index: Vec<usize>| {
        let (batch, rest) = index.split_at(lhs_batch.len());
        let (rows, columns) = rest.split_at(lhs_free.len());
        let read = |tensor: &Tensor, parts: [(&[usize], &[usize]); 3]| {
            let mut place = vec![0; tensor.rank()];
            for (axes, values) in parts {
                for (&axis, &value) in axes.iter().zip(values) {
                    place[axis] = value;
                }
            }
            at::<T>(tensor, &place).widen()
        };
        let mut sum = T::Acc::ZERO;
        for k in indices(&inner) {
            let x = read(
                lhs,
                [(&lhs_batch, batch), (&lhs_free, rows), (&lhs_contract, &k)],
            );
            let y = read(
                rhs,
                [
                    (&rhs_batch, batch),
                    (&rhs_free, columns),
                    (&rhs_contract, &k),
                ],
            );
            sum = x.fma(y, sum);
        }
        T::narrow(sum)
    };
    of(&shape, &indices(&shape).map(element).collect::<Vec<T>>())
}

const CASES: [(&[usize], &[usize], Lists); 8] = [
    (&[3, 5], &[5, 4], [&[], &[1], &[], &[0]]),
    (&[3, 5], &[4, 5], [&[], &[1], &[], &[1]]),
    (&[5, 3], &[5, 4], [&[], &[0], &[], &[0]]),
    (&[2, 3, 5], &[4, 5, 2], [&[0], &[2], &[2], &[1]]),
    (&[2, 3, 4], &[4, 5, 3], [&[], &[1, 2], &[], &[2, 0]]),
    (&[2, 3, 4, 2], &[2, 2, 6], [&[3, 0], &[], &[0, 1], &[]]),
    (&[3], &[2], [&[], &[], &[], &[]]),
    (&[4, 0, 2], &[0, 3], [&[], &[1], &[], &[0]]),
];

#[test]
fn every_dtype_is_one_chain_per_element() {
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            for (lhs, rhs, lists) in CASES {
                let (x, y) = (sample::<T>(lhs, 5), sample::<T>(rhs, 11));
                let expected = product::<T>(&x, &y, lists);
                let what = format!("{dtype} {lhs:?} by {rhs:?}, {lists:?}");
                let attrs = attrs(lists, SumType::Same);
                assert_same(&RUN.get(DotGeneral::DEF, &attrs, &[&x, &y]), &expected, &what);
                assert_same(&OPEN.get(DotGeneral::DEF, &attrs, &[&x, &y]), &expected, &what);
            }
        }, else {});
    }
}

#[test]
fn a_product_of_matrices_is_matmul() {
    let (x, y) = (sample::<f32>(&[2, 3, 5], 1), sample::<f32>(&[2, 5, 4], 2));
    let found = RUN.get(
        DotGeneral::DEF,
        &attrs([&[0], &[2], &[0], &[1]], SumType::Same),
        &[&x, &y],
    );
    assert_same(&found, &RUN.get(MatMul::DEF, &[], &[&x, &y]), "a stack");
}

#[test]
fn a_wider_dtype_sums_up_exactly() {
    let lists: Lists = [&[], &[0], &[], &[0]];
    let run =
        |dtype, x: &Tensor, y: &Tensor| RUN.get(DotGeneral::DEF, &attrs(lists, dtype), &[x, y]);
    let (x, y) = (of(&[3], &[200u8, 255, 1]), of(&[3], &[-128i8, 127, 3]));
    let sum = 200 * -128 + 255 * 127 + 3;
    assert_same(&run(SumType::I32, &x, &y), &of(&[], &[sum]), "u8 by i8");
    let x = of(&[2], &[i16::MIN; 2]);
    assert_same(
        &run(SumType::I32, &x, &x),
        &of(&[], &[i32::MIN]),
        "modulo 2^32",
    );
    assert_same(
        &run(SumType::I64, &x, &x),
        &of(&[], &[1i64 << 31]),
        "i16 as i64",
    );
    let above = 1.0 + 2.0f32.powi(-10);
    let x = of(&[1], &[F16::from_f32(above)]);
    assert_same(
        &run(SumType::F32, &x, &x),
        &of(&[], &[above * above]),
        "not rounded to f16",
    );
    let x = of(&[1], &[1.0f32 + f32::EPSILON]);
    let wide = f64::from(1.0f32 + f32::EPSILON);
    assert_same(&run(SumType::F64, &x, &x), &of(&[], &[wide * wide]), "f64");
    let folded = FOLD.eval(
        DotGeneral::DEF,
        &attrs(lists, SumType::I32),
        &[&of(&[2], &[i16::MIN; 2]), &of(&[2], &[i16::MIN; 2])],
    );
    assert_eq!(folded.unwrap_err(), EvalError::Overflow);
}

#[test]
fn extents_that_only_running_could_tell() {
    let (x, y) = (sample::<f32>(&[2, 3], 1), sample::<f32>(&[4, 2], 1));
    let lists: Lists = [&[], &[1], &[], &[0]];
    let text = OPEN.mismatch(DotGeneral::DEF, &attrs(lists, SumType::Same), &[&x, &y]);
    assert!(
        text.contains("contracted extents of `dot_general`"),
        "{text}"
    );
}
