//! Dot and matmul.

use mind_core::ops::contract::{Dot, MatMul};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::rust_types::F16;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{FOLD, OPEN, RUN};

/// Computes a chain of fused multiply-adds over `k` factors from +0, by recursion from its end.
fn chain<T: Num>(k: usize, factors: &dyn Fn(usize) -> (T, T)) -> T::Acc {
    match k {
        0 => T::Acc::ZERO,
        _ => {
            let (a, b) = factors(k - 1);
            a.widen().fma(b.widen(), chain::<T>(k - 1, factors))
        }
    }
}

fn product<T: Num>(lhs: &Tensor, rhs: &Tensor, shape: &[usize]) -> Tensor {
    let batch = shape.len() - 2;
    let place = |index: &[usize], tensor: &Tensor, matrix: [usize; 2]| -> Vec<usize> {
        let own = tensor.rank() - 2;
        let dims = index[batch - own..batch].iter().zip(tensor.shape());
        dims.map(|(&i, &extent)| if extent == 1 { 0 } else { i })
            .chain(matrix)
            .collect()
    };
    let k = lhs.shape()[lhs.rank() - 1];
    let element = |index: Vec<usize>| {
        let (row, column) = (index[batch], index[batch + 1]);
        let factors = |i: usize| {
            let a = at::<T>(lhs, &place(&index, lhs, [row, i]));
            (a, at::<T>(rhs, &place(&index, rhs, [i, column])))
        };
        T::narrow(chain::<T>(k, &factors))
    };
    of(shape, &indices(shape).map(element).collect::<Vec<T>>())
}

fn check<T: Num>(lhs: &[usize], rhs: &[usize], shape: &[usize]) {
    let (lhs, rhs) = (sample::<T>(lhs, 5), sample::<T>(rhs, 11));
    let what = format!("{} {:?} by {:?}", T::DTYPE, lhs.shape(), rhs.shape());
    let found = RUN.get(MatMul::DEF, &[], &[&lhs, &rhs]);
    assert_same(&found, &product::<T>(&lhs, &rhs, shape), &what);
    assert_same(
        &OPEN.get(MatMul::DEF, &[], &[&lhs, &rhs]),
        &found,
        "with open extents",
    );
}

#[test]
fn every_dtype_is_one_chain_per_element() {
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            check::<T>(&[1, 1], &[1, 1], &[1, 1]);
            check::<T>(&[3, 37], &[37, 5], &[3, 5]);
            check::<T>(&[2, 7], &[7, 17], &[2, 17]);
            check::<T>(&[2, 1, 3, 4], &[5, 4, 2], &[2, 5, 3, 2]);
        }, else {});
    }
}

#[test]
fn batches_broadcast() {
    check::<f32>(&[3, 4], &[5, 4, 2], &[5, 3, 2]);
    check::<f32>(&[5, 3, 4], &[4, 2], &[5, 3, 2]);
    check::<f32>(&[2, 1, 3, 4], &[1, 3, 4, 2], &[2, 3, 3, 2]);
    check::<f32>(&[1, 1, 2, 4], &[4, 2], &[1, 1, 2, 2]);
}

#[test]
fn zero_extents() {
    check::<f32>(&[2, 0], &[0, 3], &[2, 3]);
    check::<f32>(&[0, 4], &[4, 3], &[0, 3]);
    check::<f32>(&[2, 4], &[4, 0], &[2, 0]);
    check::<f32>(&[0, 2, 4], &[4, 3], &[0, 2, 3]);
    let empty = RUN.get(
        MatMul::DEF,
        &[],
        &[&of::<f32>(&[2, 0], &[]), &of::<f32>(&[0, 1], &[])],
    );
    assert_same(&empty, &of(&[2, 1], &[0.0f32; 2]), "an empty chain is +0");
}

#[test]
fn dot_of_every_pair_of_ranks() {
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            let vector = sample::<T>(&[6], 1);
            let (tall, wide) = (sample::<T>(&[4, 6], 2), sample::<T>(&[6, 3], 3));
            let as_matmul = |lhs: &Tensor, l: [usize; 2], rhs: &Tensor, r: [usize; 2], shape: &[usize]| {
                let matrices = [lhs.clone().with_shape(l.to_vec()), rhs.clone().with_shape(r.to_vec())];
                let result = product::<T>(&matrices[0], &matrices[1], &[l[0], r[1]]);
                assert_same(&RUN.get(Dot::DEF, &[], &[lhs, rhs]), &result.with_shape(shape.to_vec()), T::DTYPE.name());
            };
            as_matmul(&vector, [1, 6], &vector, [6, 1], &[]);
            as_matmul(&tall, [4, 6], &vector, [6, 1], &[4]);
            as_matmul(&vector, [1, 6], &wide, [6, 3], &[3]);
            as_matmul(&tall, [4, 6], &wide, [6, 3], &[4, 3]);
        }, else {});
    }
    let none = of::<f64>(&[0], &[]);
    assert_same(
        &RUN.get(Dot::DEF, &[], &[&none, &none]),
        &of(&[], &[0.0f64]),
        "of nothing",
    );
}

#[test]
fn a_chain_starts_from_zero_and_rounds_once() {
    let (minus, one) = (of(&[1, 1], &[-0.0f32]), of(&[1, 1], &[1.0f32]));
    let product = RUN.get(MatMul::DEF, &[], &[&minus, &one]);
    assert_same(&product, &of(&[1, 1], &[0.0f32]), "-0 * 1 + +0");
    let tiny = 2.0f32.powi(-13);
    let (x, y) = (1.0 + tiny, 1.0 - tiny);
    let dot = RUN.get(
        Dot::DEF,
        &[],
        &[&of(&[2], &[-1.0, x]), &of(&[2], &[1.0, y])],
    );
    assert_same(
        &dot,
        &of(&[], &[-tiny * tiny]),
        "the product is not rounded before it is added",
    );
    let half = |x: f32| F16::from_f32(x);
    let lhs = of(&[3], &[half(2048.0), half(1.0), half(1.0)]);
    let dot = RUN.get(Dot::DEF, &[], &[&lhs, &of(&[3], &[F16::ONE; 3])]);
    assert_same(&dot, &of(&[], &[half(2050.0)]), "f16 accumulates in f32");
    let (inf, zero) = (of(&[1], &[f32::INFINITY]), of(&[1], &[0.0f32]));
    assert_same(
        &RUN.get(Dot::DEF, &[], &[&inf, &zero]),
        &of(&[], &[f32::NAN]),
        "inf * 0",
    );
}

#[test]
fn integers_wrap_when_run_and_are_refused_when_folded() {
    let cases: [(&[i8], &[i8], i8); 3] = [
        (&[100], &[2], -56),
        (&[64, 64], &[1, 1], -128),
        (&[127, 1, -1], &[1, 1, 1], 127),
    ];
    for (lhs, rhs, wrapped) in cases {
        let (lhs, rhs) = (of(&[lhs.len()], lhs), of(&[rhs.len()], rhs));
        assert_same(
            &RUN.get(Dot::DEF, &[], &[&lhs, &rhs]),
            &of(&[], &[wrapped]),
            "wraps",
        );
        let folded = FOLD.eval(Dot::DEF, &[], &[&lhs, &rhs]);
        assert_eq!(folded.unwrap_err(), EvalError::Overflow, "a step overflows");
    }
    let big = of(&[1, 1], &[u64::MAX]);
    assert_eq!(
        FOLD.eval(MatMul::DEF, &[], &[&big, &big]).unwrap_err(),
        EvalError::Overflow
    );
    let (x, y) = (sample::<i32>(&[3, 4], 1), sample::<i32>(&[4, 2], 2));
    let (folded, run) = (
        FOLD.get(MatMul::DEF, &[], &[&x, &y]),
        RUN.get(MatMul::DEF, &[], &[&x, &y]),
    );
    assert_same(&folded, &run, "nothing overflows");
}

#[test]
fn extents_that_only_running_could_tell() {
    let (x, y) = (sample::<f32>(&[2, 3], 1), sample::<f32>(&[4, 2], 1));
    let text = OPEN.mismatch(MatMul::DEF, &[], &[&x, &y]);
    assert!(text.contains("3 against 4"), "{text}");
    let (x, y) = (sample::<f32>(&[2, 2, 3], 1), sample::<f32>(&[3, 3, 2], 1));
    let text = OPEN.mismatch(MatMul::DEF, &[], &[&x, &y]);
    assert!(text.contains("dimension 0: extent 2 against 3"), "{text}");
    let (x, y) = (sample::<f32>(&[3], 1), sample::<f32>(&[4], 1));
    assert!(OPEN.mismatch(Dot::DEF, &[], &[&x, &y]).contains("`dot`"));
}
