//! Elementwise ops: each row of the table is bound to its scalar function.

use mind_core::ops::{circular::*, elementwise::*, power::*, rounding::*};
use mind_ir::eval::EvalError;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Element, Tensor};

use crate::elements::{assert_same, of};
use crate::run::{FOLD, OPEN, RUN};

fn check<T: Element>(def: &'static OpDef, operands: &[&[T]], expected: &[T]) {
    let tensors: Vec<Tensor> = operands.iter().map(|x| of(&[x.len()], x)).collect();
    let operands: Vec<&Tensor> = tensors.iter().collect();
    assert_same(
        &RUN.get(def, &[], &operands),
        &of(&[expected.len()], expected),
        def.name,
    );
}

#[test]
fn every_row_names_its_function() {
    check(Add::DEF, &[&[1.5f32, -0.0], &[2.0, 0.0]], &[3.5, 0.0]);
    check(Sub::DEF, &[&[1.5f32, -0.0], &[2.0, 0.0]], &[-0.5, -0.0]);
    check(
        Mul::DEF,
        &[&[1.5f32, f32::INFINITY], &[2.0, 0.0]],
        &[3.0, f32::NAN],
    );
    check(
        Div::DEF,
        &[&[1.0f32, -1.0, 0.0], &[4.0, 0.0, 0.0]],
        &[0.25, f32::NEG_INFINITY, f32::NAN],
    );
    check(Div::DEF, &[&[7i32, -7], &[2, 2]], &[3, -3]);
    check(
        Maximum::DEF,
        &[&[1.0f32, -0.0, f32::NAN], &[2.0, 0.0, 1.0]],
        &[2.0, 0.0, f32::NAN],
    );
    check(
        Minimum::DEF,
        &[&[1.0f32, 0.0, 1.0], &[2.0, -0.0, f32::NAN]],
        &[1.0, -0.0, f32::NAN],
    );
    check(
        Relu::DEF,
        &[&[2.0f32, -2.0, -0.0, f32::NAN]],
        &[2.0, 0.0, 0.0, 0.0],
    );
    check(Neg::DEF, &[&[2.0f32, 0.0]], &[-2.0, -0.0]);
    check(Abs::DEF, &[&[-2.0f32, -0.0]], &[2.0, 0.0]);
    check(Sqrt::DEF, &[&[4.0f32, -0.0, -1.0]], &[2.0, -0.0, f32::NAN]);
    check(
        Exp::DEF,
        &[&[0.0f32, f32::NEG_INFINITY, f32::INFINITY]],
        &[1.0, 0.0, f32::INFINITY],
    );
    check(
        Log::DEF,
        &[&[1.0f32, 0.0, -1.0]],
        &[0.0, f32::NEG_INFINITY, f32::NAN],
    );
    check(Erf::DEF, &[&[0.0f32, f32::INFINITY]], &[0.0, 1.0]);
    check(
        Sigmoid::DEF,
        &[&[0.0f32, f32::INFINITY, f32::NEG_INFINITY]],
        &[0.5, 1.0, 0.0],
    );
    check(Tanh::DEF, &[&[0.0f32, f32::INFINITY]], &[0.0, 1.0]);
    check(
        Gelu::DEF,
        &[&[0.0f32, f32::INFINITY]],
        &[0.0, f32::INFINITY],
    );
}

#[test]
fn every_power_names_its_function() {
    check(Exp2::DEF, &[&[3.0f32, -1.0]], &[8.0, 0.5]);
    check(Expm1::DEF, &[&[-0.0f32, f32::NEG_INFINITY]], &[-0.0, -1.0]);
    check(
        Log2::DEF,
        &[&[8.0f32, 0.25, 0.0]],
        &[3.0, -2.0, f32::NEG_INFINITY],
    );
    check(
        Log1p::DEF,
        &[&[-0.0f32, -1.0, -2.0]],
        &[-0.0, f32::NEG_INFINITY, f32::NAN],
    );
}

#[test]
fn powers_follow_ieee_and_integers_wrap() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let float = |rows: &[(f32, f32, f32)]| {
        let column = |at: fn(&(f32, f32, f32)) -> f32| rows.iter().map(at).collect::<Vec<f32>>();
        let (x, y, power) = (
            column(|row| row.0),
            column(|row| row.1),
            column(|row| row.2),
        );
        check(Pow::DEF, &[&x, &y], &power);
    };
    float(&[
        (nan, 0.0, 1.0),
        (nan, -0.0, 1.0),
        (1.0, nan, 1.0),
        (0.0, nan, nan),
        (nan, 1.0, nan),
    ]);
    float(&[
        (-1.0, inf, 1.0),
        (-1.0, -inf, 1.0),
        (0.5, inf, 0.0),
        (-2.0, -inf, 0.0),
        (2.0, inf, inf),
    ]);
    float(&[
        (-2.0, 3.0, -8.0),
        (-2.0, 4.0, 16.0),
        (-2.0, 0.3, nan),
        (2.0, -3.0, 0.125),
    ]);
    float(&[
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
        (-0.0, 3.0, -0.0),
        (0.0, -0.5, inf),
        (-0.0, 2.5, 0.0),
    ]);
    float(&[
        (-inf, 3.0, -inf),
        (-inf, -3.0, -0.0),
        (-inf, 2.5, inf),
        (inf, -1.5, 0.0),
    ]);
    float(&[
        (-0.0, 0.5, 0.0),
        (-inf, 0.5, inf),
        (-4.0, 0.5, nan),
        (-0.0, -1.0, -inf),
        (-0.0, 1.0, -0.0),
    ]);
    check(
        Pow::DEF,
        &[&[2i8, 2, -1, -1, 1, -3, 3], &[7, 8, -3, -2, -128, -1, 5]],
        &[-128, 0, -1, 1, 1, 0, -13],
    );
    check(Pow::DEF, &[&[3u16, 0, 0], &[11, 0, 3]], &[46_075, 1, 0]);
    let refused = RUN.eval(Pow::DEF, &[], &[&of(&[], &[0i32]), &of(&[], &[-1i32])]);
    assert_eq!(refused.unwrap_err(), EvalError::Division { lhs: 1, rhs: 0 });
    let refused = FOLD.eval(Pow::DEF, &[], &[&of(&[], &[2i8]), &of(&[], &[7i8])]);
    assert_eq!(refused.unwrap_err(), EvalError::Overflow);
}

#[test]
fn remainders_have_the_sign_of_either_operand() {
    let inf = f32::INFINITY;
    let x = [7.5f32, -7.5, 7.5, -7.5, -6.0, -2.0, inf, 1.0];
    let y = [2.0f32, 2.0, -2.0, -2.0, 3.0, inf, 2.0, 0.0];
    let nan = f32::NAN;
    check(
        Remainder::DEF,
        &[&x, &y],
        &[1.5, -1.5, 1.5, -1.5, -0.0, -2.0, nan, nan],
    );
    check(
        Mod::DEF,
        &[&x, &y],
        &[1.5, 0.5, -0.5, -1.5, 0.0, inf, nan, nan],
    );
    let (x, y) = ([7i8, -7, 7, -7, -128, 127], [3i8, 3, -3, -3, -1, -128]);
    check(Remainder::DEF, &[&x, &y], &[1, -1, 1, -1, 0, 127]);
    check(Mod::DEF, &[&x, &y], &[1, 2, -2, -1, 0, -1]);
    check(Mod::DEF, &[&[250u8], &[7]], &[5]);
    for def in [Mod::DEF, Remainder::DEF] {
        let refused = RUN.eval(def, &[], &[&of(&[], &[5i32]), &of(&[], &[0i32])]);
        assert_eq!(refused.unwrap_err(), EvalError::Division { lhs: 5, rhs: 0 });
    }
}

#[test]
fn angles_of_points_follow_the_signs_of_zeros() {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let inf = f32::INFINITY;
    let y = [
        0.0f32, -0.0, 0.0, -0.0, 1.0, -1.0, inf, inf, -inf, 1.0, -1.0, 1.0, 0.0,
    ];
    let x = [
        0.0f32,
        0.0,
        -0.0,
        -1.0,
        0.0,
        -0.0,
        inf,
        -inf,
        2.0,
        inf,
        -inf,
        -1.0,
        f32::NAN,
    ];
    let far = 3.0 * FRAC_PI_4;
    let expected = [
        0.0,
        -0.0,
        PI,
        -PI,
        FRAC_PI_2,
        -FRAC_PI_2,
        FRAC_PI_4,
        far,
        -FRAC_PI_2,
        0.0,
        -PI,
        far,
        f32::NAN,
    ];
    check(Atan2::DEF, &[&y, &x], &expected);
}

#[test]
fn every_rounding_names_its_function() {
    let inputs = [
        -0.3f32,
        -0.0,
        0.3,
        0.5,
        1.5,
        -2.5,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let row = |def, expected: [f32; 6]| {
        let mut expected = expected.to_vec();
        expected.extend(&inputs[6..]);
        check(def, &[&inputs], &expected);
    };
    row(Floor::DEF, [-1.0, -0.0, 0.0, 0.0, 1.0, -3.0]);
    row(Ceil::DEF, [-0.0, -0.0, 1.0, 1.0, 2.0, -2.0]);
    row(Trunc::DEF, [-0.0, -0.0, 0.0, 0.0, 1.0, -2.0]);
    row(Round::DEF, [-0.0, -0.0, 0.0, 0.0, 2.0, -2.0]);
    check(
        Sign::DEF,
        &[&[-0.3f32, -0.0, 0.0, f32::INFINITY, f32::NAN]],
        &[-1.0, -0.0, 0.0, 1.0, f32::NAN],
    );
    check(Sign::DEF, &[&[i8::MIN, -1, 0, 5]], &[-1, -1, 0, 1]);
    check(Sign::DEF, &[&[u16::MAX, 0]], &[1, 0]);
    check(
        Rsqrt::DEF,
        &[&[4.0f32, 0.0, -0.0, f32::INFINITY, -1.0]],
        &[0.5, f32::INFINITY, f32::NEG_INFINITY, 0.0, f32::NAN],
    );
}

#[test]
fn every_circular_op_names_its_function() {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, FRAC_PI_6, LN_2, PI};
    check(Sin::DEF, &[&[-0.0f32, FRAC_PI_6]], &[-0.0, 0.5]);
    check(
        Cos::DEF,
        &[&[-0.0f32, PI, f32::INFINITY]],
        &[1.0, -1.0, f32::NAN],
    );
    check(Tan::DEF, &[&[-0.0f32, FRAC_PI_4]], &[-0.0, 1.0]);
    check(
        Sinh::DEF,
        &[&[-0.0f32, f32::NEG_INFINITY]],
        &[-0.0, f32::NEG_INFINITY],
    );
    check(
        Cosh::DEF,
        &[&[-0.0f32, f32::NEG_INFINITY]],
        &[1.0, f32::INFINITY],
    );
    check(
        Asin::DEF,
        &[&[-0.0f32, 1.0, 2.0]],
        &[-0.0, FRAC_PI_2, f32::NAN],
    );
    check(Asin::DEF, &[&[0.5f32]], &[FRAC_PI_6]);
    check(Acos::DEF, &[&[1.0f32, -1.0, 2.0]], &[0.0, PI, f32::NAN]);
    check(Atan::DEF, &[&[-0.0f32, f32::INFINITY]], &[-0.0, FRAC_PI_2]);
    check(Asinh::DEF, &[&[-0.0f32, 0.75]], &[-0.0, LN_2]);
    check(Acosh::DEF, &[&[1.0f32, 1.25, 0.5]], &[0.0, LN_2, f32::NAN]);
    check(
        Atanh::DEF,
        &[&[-0.0f32, 1.0, -2.0]],
        &[-0.0, f32::INFINITY, f32::NAN],
    );
}

#[test]
fn operands_broadcast() {
    let (column, row) = (of(&[2, 1], &[10i32, 20]), of(&[3], &[1i32, 2, 3]));
    let sum = RUN.get(Add::DEF, &[], &[&column, &row]);
    assert_same(
        &sum,
        &of(&[2, 3], &[11, 12, 13, 21, 22, 23]),
        "a column and a row",
    );
    let scalar = of(&[], &[5i32]);
    assert_same(
        &RUN.get(Sub::DEF, &[], &[&scalar, &row]),
        &of(&[3], &[4, 3, 2]),
        "rank 0",
    );
    let none = of::<i32>(&[2, 0], &[]);
    assert_same(
        &RUN.get(Mul::DEF, &[], &[&column, &none]),
        &none,
        "an empty row",
    );
    let text = OPEN.mismatch(Add::DEF, &[], &[&of(&[2], &[1i32, 2]), &row]);
    assert!(text.contains("dimension 0: extent 2 against 3"), "{text}");
}

#[test]
fn integers_wrap_when_run_and_are_refused_when_folded() {
    let (max, one) = (of(&[], &[i64::MAX]), of(&[], &[1i64]));
    assert_same(
        &RUN.get(Add::DEF, &[], &[&max, &one]),
        &of(&[], &[i64::MIN]),
        "wraps",
    );
    for def in [Add::DEF, Mul::DEF] {
        let refused = FOLD.eval(def, &[], &[&max, &of(&[], &[2i64])]);
        assert_eq!(refused.unwrap_err(), EvalError::Overflow, "{}", def.name);
    }
    let min = of(&[], &[i64::MIN]);
    assert_eq!(
        FOLD.eval(Sub::DEF, &[], &[&min, &one]).unwrap_err(),
        EvalError::Overflow
    );
    assert_eq!(
        FOLD.eval(Neg::DEF, &[], &[&min]).unwrap_err(),
        EvalError::Overflow
    );
    let by_zero = RUN.eval(Div::DEF, &[], &[&one, &of(&[], &[0i64])]);
    assert_eq!(by_zero.unwrap_err(), EvalError::Division { lhs: 1, rhs: 0 });
    let least = RUN.eval(Div::DEF, &[], &[&min, &of(&[], &[-1i64])]);
    assert_eq!(
        least.unwrap_err(),
        EvalError::Division {
            lhs: i64::MIN.into(),
            rhs: -1
        }
    );
}
