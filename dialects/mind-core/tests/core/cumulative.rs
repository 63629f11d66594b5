//! `Cumulative`, compared with chains that are written out step by step.

use mind_core::ops::cumulative::{Accumulation, Cumulative};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::rust_types::F16;
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, ravel, sample};
use crate::run::{FOLD, RUN};

fn check<T: Num>(shape: &[usize], axis: usize, kind: Accumulation, exclusive: bool, reverse: bool) {
    let x = sample::<T>(shape, 3);
    let identity = match kind {
        Accumulation::Sum => T::Acc::ZERO,
        Accumulation::Prod => T::Acc::ONE,
        Accumulation::Max => T::Acc::LOWEST,
        Accumulation::Min => T::Acc::HIGHEST,
    };
    let combine = |sum: T::Acc, x: T::Acc| match kind {
        Accumulation::Sum => sum.add(x),
        Accumulation::Prod => sum.mul(x),
        Accumulation::Max => sum.maximum(x),
        Accumulation::Min => sum.minimum(x),
    };
    let mut expected = vec![T::ZERO; x.count()];
    for index in indices(shape) {
        let own = index[axis];
        let mut places: Vec<usize> = match (reverse, exclusive) {
            (false, false) => (0..=own).collect(),
            (false, true) => (0..own).collect(),
            (true, false) => (own..shape[axis]).collect(),
            (true, true) => (own + 1..shape[axis]).collect(),
        };
        if reverse {
            places.reverse();
        }
        let chain = places.into_iter().fold(identity, |sum, place| {
            let mut index = index.clone();
            index[axis] = place;
            combine(sum, at::<T>(&x, &index).widen())
        });
        expected[ravel(&index, shape)] = T::narrow(chain);
    }
    let attrs = Cumulative::attrs(axis as i64, kind, exclusive, reverse);
    let what = format!("{} {shape:?} {attrs:?}", T::DTYPE);
    let found = RUN.get(Cumulative::DEF, &attrs, &[&x]);
    assert_same(&found, &Tensor::of(shape.to_vec(), expected), &what);
}

#[test]
fn every_kind_direction_and_dtype() {
    for &dtype in DType::ALL.iter().filter(|&&dtype| dtype != DType::Bool) {
        for &kind in Accumulation::ALL {
            for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)]
            {
                for (shape, axis) in [
                    (&[7][..], 0),
                    (&[2, 5, 3], 1),
                    (&[3, 4], 0),
                    (&[0, 2], 0),
                    (&[2, 0], 0),
                ] {
                    with_num!(dtype, T => check::<T>(shape, axis, kind, exclusive, reverse), else {});
                }
            }
        }
    }
}

#[test]
fn halves_are_rounded_where_they_are_kept_alone() {
    let x = of(&[3], &[2048.0, 1.0, 1.0].map(F16::from_f32));
    let attrs = Cumulative::attrs(0, Accumulation::Sum, false, false);
    let found = RUN.get(Cumulative::DEF, &attrs, &[&x]);
    let expected = [2048.0, 2048.0, 2050.0].map(F16::from_f32);
    assert_same(&found, &of(&[3], &expected), "the chain is kept in f32");
}

#[test]
fn overflow_is_refused_where_it_is_kept() {
    let x = of(&[2], &[100i8, 100]);
    let attrs = |exclusive| Cumulative::attrs(0, Accumulation::Sum, exclusive, false);
    let found = FOLD.eval(Cumulative::DEF, &attrs(false), &[&x]);
    assert_eq!(found.err(), Some(EvalError::Overflow));
    let found = FOLD.get(Cumulative::DEF, &attrs(true), &[&x]);
    assert_same(&found, &of(&[2], &[0i8, 100]), "the last step is not kept");
}
