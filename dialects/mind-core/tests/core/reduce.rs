//! Sum, mean and max.

use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_ir::eval::EvalError;
use mind_ir::opdef::Op;
use mind_ir::tensor::rust_types::{BF16, F16};
use mind_ir::tensor::{Element, Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

use crate::elements::{assert_same, at, indices, of, sample};
use crate::run::{FOLD, OPEN, RUN};

/// Halves partial results by recursion.
fn halve<A: Copy>(partial: &[A], combine: fn(A, A) -> A) -> A {
    match partial {
        [only] => *only,
        _ => {
            let (low, high) = partial.split_at(partial.len() / 2);
            let pairs: Vec<A> = low.iter().zip(high).map(|(&l, &h)| combine(l, h)).collect();
            halve(&pairs, combine)
        }
    }
}

/// Reduces to 64 interleaved partial results, then halves them.
fn interleaved<A: Copy>(elements: &[A], identity: A, combine: fn(A, A) -> A) -> A {
    let lane = |j: usize| {
        elements
            .iter()
            .skip(j)
            .step_by(64)
            .fold(identity, |p, &x| combine(p, x))
    };
    let partial: Vec<A> = (0..64).map(lane).collect();
    halve(&partial, combine)
}

/// Returns the shape of the result, and for each of its positions the reduced elements in row-major order of the
/// reduced axes.
fn groups<T: Element>(x: &Tensor, axes: &[usize], keepdims: bool) -> (Vec<usize>, Vec<Vec<T>>) {
    let kept: Vec<usize> = (0..x.rank()).filter(|axis| !axes.contains(axis)).collect();
    let kept_shape: Vec<usize> = kept.iter().map(|&axis| x.shape()[axis]).collect();
    let groups = indices(&kept_shape).map(|place| {
        let belongs = |index: &Vec<usize>| kept.iter().zip(&place).all(|(&a, &i)| index[a] == i);
        indices(x.shape())
            .filter(belongs)
            .map(|index| at(x, &index))
            .collect()
    });
    let shape = if keepdims {
        (0..x.rank())
            .map(|a| if axes.contains(&a) { 1 } else { x.shape()[a] })
            .collect()
    } else {
        kept_shape.clone()
    };
    (shape, groups.collect())
}

fn check<T: Num>(shape: &[usize], axes: &[i64], keepdims: bool) {
    let x = sample::<T>(shape, 3);
    let mut resolved: Vec<usize> = axes
        .iter()
        .map(|&a| a.rem_euclid(shape.len() as i64) as usize)
        .collect();
    if axes.is_empty() {
        resolved = (0..shape.len()).collect();
    }
    let (result, groups) = groups::<T>(&x, &resolved, keepdims && !axes.is_empty());
    let what = format!("{} {shape:?} {axes:?}", T::DTYPE);
    let sums: Vec<T::Acc> = groups
        .iter()
        .map(|group| {
            let wide: Vec<T::Acc> = group.iter().map(|x| x.widen()).collect();
            interleaved(&wide, T::Acc::ZERO, T::Acc::add)
        })
        .collect();
    let sum: Vec<T> = sums.iter().map(|&sum| T::narrow(sum)).collect();
    let found = RUN.get(Sum::DEF, &Sum::attrs(axes, keepdims), &[&x]);
    assert_same(&found, &of(&result, &sum), &format!("sum {what}"));
    let largest: Vec<T> = groups
        .iter()
        .map(|group| interleaved(group, T::LOWEST, T::maximum))
        .collect();
    let found = RUN.get(Max::DEF, &Max::attrs(axes, keepdims), &[&x]);
    assert_same(&found, &of(&result, &largest), &format!("max {what}"));
    let smallest: Vec<T> = groups
        .iter()
        .map(|group| interleaved(group, T::HIGHEST, T::minimum))
        .collect();
    let found = RUN.get(Min::DEF, &Min::attrs(axes, keepdims), &[&x]);
    assert_same(&found, &of(&result, &smallest), &format!("min {what}"));
    let product = |group: &Vec<T>| {
        let wide: Vec<T::Acc> = group.iter().map(|x| x.widen()).collect();
        T::narrow(interleaved(&wide, T::Acc::ONE, T::Acc::mul))
    };
    let products: Vec<T> = groups.iter().map(product).collect();
    let found = RUN.get(Prod::DEF, &Prod::attrs(axes, keepdims), &[&x]);
    assert_same(&found, &of(&result, &products), &format!("prod {what}"));
    let count = groups.first().map_or(1, Vec::len);
    let mean = |sum: &T::Acc| T::narrow(sum.div(T::Acc::from_count(count)).expect("count > 0"));
    let mean: Vec<T> = sums.iter().map(mean).collect();
    let found = RUN.get(Mean::DEF, &Mean::attrs(axes, keepdims), &[&x]);
    assert_same(&found, &of(&result, &mean), &format!("mean {what}"));
}

#[test]
fn every_dtype_follows_the_order_of_the_specification() {
    for &dtype in DType::ALL {
        with_num!(dtype, T => {
            check::<T>(&[], &[], false);
            check::<T>(&[], &[], true);
            check::<T>(&[67], &[0], true);
            check::<T>(&[2, 3, 4], &[1], false);
            check::<T>(&[2, 3, 4], &[-1, 0], true);
            check::<T>(&[2, 3, 4], &[], true);
            check::<T>(&[5, 2, 9], &[2, 0], false);
            check::<T>(&[3, 1, 2, 7], &[0, 3], true);
        }, else {});
    }
}

#[test]
fn long_float_reductions_follow_the_order_of_the_specification() {
    check::<f32>(&[1000], &[0], false);
    check::<f32>(&[3, 129], &[1], false);
    check::<f32>(&[130, 3], &[0], false);
    check::<f32>(&[5, 3, 41], &[0, 2], false);
    check::<f64>(&[9, 7, 5], &[0, 1], true);
    check::<F16>(&[2, 300], &[1], false);
    check::<BF16>(&[300, 2], &[0], false);
}

#[test]
fn the_published_examples() {
    let x = sample::<f32>(&[3, 4, 5], 1);
    assert_eq!(
        RUN.get(Sum::DEF, &Sum::attrs(&[1], false), &[&x]).shape(),
        [3, 5]
    );
    assert_eq!(
        RUN.get(Sum::DEF, &Sum::attrs(&[1], true), &[&x]).shape(),
        [3, 1, 5]
    );
    let ones = of(&[2, 3, 4], &[6.0f32; 24]);
    let mean = RUN.get(Mean::DEF, &Mean::attrs(&[1, 2], false), &[&ones]);
    assert_same(&mean, &of(&[2], &[6.0f32, 6.0]), "divided by 12");
}

#[test]
fn nothing_sums_to_zero_and_has_no_mean() {
    let none = of::<f32>(&[2, 0], &[]);
    let reduced = |def, attrs: &[_]| RUN.get(def, attrs, &[&none]);
    assert_same(
        &reduced(Sum::DEF, &Sum::attrs(&[1], false)),
        &of(&[2], &[0.0f32; 2]),
        "sum",
    );
    assert_same(
        &reduced(Mean::DEF, &Mean::attrs(&[1], true)),
        &of(&[2, 1], &[f32::NAN; 2]),
        "mean",
    );
    let least = of(&[2], &[f32::NEG_INFINITY; 2]);
    assert_same(&reduced(Max::DEF, &Max::attrs(&[1], false)), &least, "max");
    assert_eq!(reduced(Sum::DEF, &Sum::attrs(&[0], false)).shape(), [0]);
    let none = of::<i16>(&[0], &[]);
    let max = RUN.get(Max::DEF, &Max::attrs(&[], false), &[&none]);
    assert_same(&max, &of(&[], &[i16::MIN]), "integer max");
    let mean = RUN.eval(Mean::DEF, &Mean::attrs(&[], false), &[&none]);
    assert_eq!(mean.unwrap_err(), EvalError::Division { lhs: 0, rhs: 0 });
    let empty = of::<i16>(&[3, 0], &[]);
    let mean = RUN.get(Mean::DEF, &Mean::attrs(&[0], false), &[&empty]);
    assert_same(&mean, &of::<i16>(&[0], &[]), "no mean to take");
}

#[test]
fn zeros_infinities_and_nan() {
    let sum = |x: &[f32]| {
        let x = of(&[x.len()], x);
        RUN.get(Sum::DEF, &Sum::attrs(&[], false), &[&x])
            .elements::<f32>()[0]
    };
    assert_eq!(
        sum(&[-0.0, -0.0]).to_bits(),
        0,
        "partial sums start from +0"
    );
    assert!(sum(&[f32::INFINITY, f32::NEG_INFINITY]).is_nan());
    assert_eq!(sum(&[f32::INFINITY, 1.0]), f32::INFINITY);
    let max = |x: &[f32]| {
        let x = of(&[x.len()], x);
        RUN.get(Max::DEF, &Max::attrs(&[], false), &[&x])
            .elements::<f32>()[0]
    };
    assert_eq!(max(&[-0.0, 0.0, -0.0]).to_bits(), 0);
    assert_eq!(max(&[-0.0, -1.0]).to_bits(), (-0.0f32).to_bits());
    assert!(max(&[1.0, f32::NAN, f32::INFINITY]).is_nan());
}

#[test]
fn narrow_floats_round_once_at_the_end() {
    let one = F16::ONE;
    let x = of(&[3], &[F16::from_f32(2048.0), one, one]);
    let sum = RUN.get(Sum::DEF, &Sum::attrs(&[], false), &[&x]);
    assert_same(
        &sum,
        &of(&[], &[F16::from_f32(2050.0)]),
        "2048 + 1 rounds to 2048 in f16",
    );
    let x = of(&[4], &[F16::MAX; 4]);
    let mean = RUN.get(Mean::DEF, &Mean::attrs(&[], false), &[&x]);
    assert_same(
        &mean,
        &of(&[], &[F16::MAX]),
        "the sum is not rounded before it is divided",
    );
}

#[test]
fn integers_wrap_when_run_and_are_refused_when_folded() {
    let x = of(&[2], &[i8::MAX, 1]);
    let attrs = Sum::attrs(&[], false);
    assert_same(
        &RUN.get(Sum::DEF, &attrs, &[&x]),
        &of(&[], &[i8::MIN]),
        "wrapped",
    );
    assert_eq!(
        FOLD.eval(Sum::DEF, &attrs, &[&x]).unwrap_err(),
        EvalError::Overflow
    );
    let fits = of(&[2], &[i8::MAX, -1]);
    assert_same(
        &FOLD.get(Sum::DEF, &attrs, &[&fits]),
        &of(&[], &[126i8]),
        "fits",
    );
    let attrs = Mean::attrs(&[], false);
    assert_same(
        &RUN.get(Mean::DEF, &attrs, &[&x]),
        &of(&[], &[-64i8]),
        "the wrapped sum halved",
    );
    assert_eq!(
        FOLD.eval(Mean::DEF, &attrs, &[&x]).unwrap_err(),
        EvalError::Overflow
    );
    let down = of(&[2], &[-4i32, 1]);
    assert_same(
        &FOLD.get(Mean::DEF, &attrs, &[&down]),
        &of(&[], &[-1i32]),
        "toward zero",
    );
    let many = of(&[300], &[0u8; 300]);
    assert_same(
        &RUN.get(Mean::DEF, &attrs, &[&many]),
        &of(&[], &[0u8]),
        "300 does not fit u8",
    );
    let big = of(&[2], &[u64::MAX, 0]);
    let attrs = Sum::attrs(&[], false);
    assert_same(
        &FOLD.get(Sum::DEF, &attrs, &[&big]),
        &of(&[], &[u64::MAX]),
        "the largest u64",
    );
}

#[test]
fn extents_are_those_of_the_run() {
    let x = sample::<f32>(&[4, 6], 2);
    let attrs = Sum::attrs(&[-1], true);
    let (open, known) = (
        OPEN.get(Sum::DEF, &attrs, &[&x]),
        RUN.get(Sum::DEF, &attrs, &[&x]),
    );
    assert_same(&open, &known, "sum of `?`");
}

#[test]
fn truth_values_are_any_and_all() {
    let x = of(&[3, 2], &[true, false, true, true, true, false]);
    let any = RUN.get(Max::DEF, &Max::attrs(&[0], false), &[&x]);
    assert_same(&any, &of(&[2], &[true, true]), "any");
    let all = RUN.get(Min::DEF, &Min::attrs(&[0], true), &[&x]);
    assert_same(&all, &of(&[1, 2], &[true, false]), "all");
    let none = of::<bool>(&[0, 2], &[]);
    let any = RUN.get(Max::DEF, &Max::attrs(&[0], false), &[&none]);
    assert_same(&any, &of(&[2], &[false, false]), "any of none");
    let all = RUN.get(Min::DEF, &Min::attrs(&[0], false), &[&none]);
    assert_same(&all, &of(&[2], &[true, true]), "all of none");
}

#[test]
fn minima_and_products_over_nothing_and_of_special_values() {
    let none = of::<f32>(&[0], &[]);
    assert_same(
        &RUN.get(Min::DEF, &Min::attrs(&[], false), &[&none]),
        &Tensor::scalar(f32::INFINITY),
        "min of none",
    );
    assert_same(
        &RUN.get(Prod::DEF, &Prod::attrs(&[], false), &[&none]),
        &Tensor::scalar(1f32),
        "product of none",
    );
    let x = of(&[3], &[0.0f32, -0.0, 4.0]);
    assert_same(
        &RUN.get(Min::DEF, &Min::attrs(&[], false), &[&x]),
        &Tensor::scalar(-0.0f32),
        "-0 is below +0",
    );
    let x = of(&[3], &[100i8, 2, 2]);
    let attrs = Prod::attrs(&[], false);
    let wrapped = RUN.get(Prod::DEF, &attrs, &[&x]);
    assert_same(&wrapped, &Tensor::scalar(-112i8), "products wrap");
    let refused = FOLD.eval(Prod::DEF, &attrs, &[&x]);
    assert!(matches!(refused, Err(EvalError::Overflow)), "{refused:?}");
}

#[test]
fn argmax_and_argmin_take_the_first_or_the_last_of_equals() {
    let x = of(&[2, 4], &[1.0f32, 3.0, 3.0, 1.0, 0.0, -0.0, -1.0, -1.0]);
    let run = |def, last| RUN.get(def, &ArgMax::attrs(1, false, last), &[&x]);
    assert_same(&run(ArgMax::DEF, false), &of(&[2], &[1i64, 0]), "first");
    assert_same(&run(ArgMax::DEF, true), &of(&[2], &[2i64, 1]), "last");
    assert_same(&run(ArgMin::DEF, false), &of(&[2], &[0i64, 2]), "first");
    assert_same(&run(ArgMin::DEF, true), &of(&[2], &[3i64, 3]), "last");
    let columns = RUN.get(ArgMax::DEF, &ArgMax::attrs(0, true, false), &[&x]);
    assert_same(&columns, &of(&[1, 4], &[0i64, 0, 0, 0]), "columns");
}

#[test]
fn argmax_and_argmin_find_nan_first() {
    let x = of(&[4], &[1.0f32, f32::NAN, f32::INFINITY, f32::NAN]);
    for def in [ArgMax::DEF, ArgMin::DEF] {
        let first = RUN.get(def, &ArgMax::attrs(0, false, false), &[&x]);
        assert_same(&first, &Tensor::scalar(1i64), "the first NaN");
        let last = RUN.get(def, &ArgMax::attrs(0, false, true), &[&x]);
        assert_same(&last, &Tensor::scalar(3i64), "the last NaN");
    }
    let empty = of::<i8>(&[0], &[]);
    let text = OPEN.mismatch(ArgMin::DEF, &ArgMin::attrs(0, false, false), &[&empty]);
    assert!(text.contains("no element to choose"), "{text}");
}
