//! Comparisons, choices, truth values and bits.

use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::logic::{And, Not, Or, ShiftLeft, ShiftRight, Xor};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::rust_types::{BF16 as bf16, F16 as f16};
use mind_ir::tensor::{Element, Tensor};

use crate::elements::{assert_same, of};
use crate::run::RUN;

fn vector<T: Element>(elements: &[T]) -> Tensor {
    of(&[elements.len()], elements)
}

fn compare<T: Element>(x: &[T], y: &[T], expected: [&[bool]; 6]) {
    let operands = [&vector(x), &vector(y)];
    for (&direction, expected) in Direction::ALL.iter().zip(expected) {
        let found = RUN.get(Compare::DEF, &Compare::attrs(direction), &operands);
        assert_same(&found, &vector(expected), direction.name());
    }
}

#[test]
fn zeros_are_equal_and_a_nan_equals_nothing() {
    const NAN: f32 = f32::NAN;
    let x = [1.0, -0.0, NAN, NAN, f32::INFINITY];
    let y = [2.0, 0.0, 1.0, NAN, f32::NEG_INFINITY];
    let equal = [false, true, false, false, false];
    let less = [true, false, false, false, false];
    let less_equal = [true, true, false, false, false];
    let greater = [false, false, false, false, true];
    let greater_equal = [false, true, false, false, true];
    let differ = equal.map(|equal| !equal);
    let expected: [&[bool]; 6] = [
        &equal,
        &differ,
        &less,
        &less_equal,
        &greater,
        &greater_equal,
    ];
    compare(&x, &y, expected);
    compare(&x.map(f64::from), &y.map(f64::from), expected);
    compare(&x.map(f16::from_f32), &y.map(f16::from_f32), expected);
    compare(&x.map(bf16::from_f32), &y.map(bf16::from_f32), expected);
}

#[test]
fn integers_compare_by_their_sign_and_false_is_less_than_true() {
    let expected: [&[bool]; 6] = [
        &[false, true, false],
        &[true, false, true],
        &[true, false, false],
        &[true, true, false],
        &[false, false, true],
        &[false, true, true],
    ];
    compare(&[i8::MIN, 7, 1], &[i8::MAX, 7, -1], expected);
    compare(&[1u64, 7, u64::MAX], &[2, 7, 1], expected);
    compare(&[false, true, true], &[true, true, false], expected);
}

#[test]
fn the_side_that_is_not_chosen_does_not_show() {
    let which = vector(&[true, false]);
    let (x, y) = (vector(&[1.0f32, f32::NAN]), vector(&[f32::NAN, -0.0]));
    let found = RUN.get(Select::DEF, &[], &[&which, &x, &y]);
    assert_same(&found, &vector(&[1.0f32, -0.0]), "select");
    let (column, row) = (of(&[2, 1], &[1i32, 2]), of(&[3], &[5i32, 6, 7]));
    let found = RUN.get(
        Select::DEF,
        &[],
        &[&of(&[2, 1], &[true, false]), &column, &row],
    );
    assert_same(&found, &of(&[2, 3], &[1i32, 1, 1, 5, 6, 7]), "select");
    let none = of::<bool>(&[0], &[]);
    let found = RUN.get(
        Select::DEF,
        &[],
        &[&none, &of::<u8>(&[0], &[]), &of(&[1], &[1u8])],
    );
    assert_same(&found, &of::<u8>(&[0], &[]), "select");
}

fn bits<T: Element>(def: &'static OpDef, operands: &[&[T]], expected: &[T]) {
    let tensors: Vec<Tensor> = operands.iter().map(|x| vector(x)).collect();
    let operands: Vec<&Tensor> = tensors.iter().collect();
    assert_same(&RUN.get(def, &[], &operands), &vector(expected), def.name);
}

#[test]
fn truth_values_and_bits() {
    let (x, y) = ([false, false, true, true], [false, true, false, true]);
    bits(And::DEF, &[&x, &y], &[false, false, false, true]);
    bits(Or::DEF, &[&x, &y], &[false, true, true, true]);
    bits(Xor::DEF, &[&x, &y], &[false, true, true, false]);
    bits(Not::DEF, &[&x], &[true, true, false, false]);
    bits(And::DEF, &[&[0b1100u8], &[0b1010]], &[0b1000]);
    bits(Or::DEF, &[&[0b1100i64], &[0b1010]], &[0b1110]);
    bits(Xor::DEF, &[&[-1i16], &[1]], &[-2]);
    bits(Not::DEF, &[&[0u32, 5]], &[u32::MAX, u32::MAX - 5]);
}

#[test]
fn shifts_take_any_amount() {
    let x = [-5i8, -5, -5, -5, 5, 5];
    let amounts = [0, 1, 8, -1, 7, 8];
    bits(ShiftLeft::DEF, &[&x, &amounts], &[-5, -10, 0, 0, -128, 0]);
    bits(ShiftRight::DEF, &[&x, &amounts], &[-5, -3, -1, -1, 0, 0]);
    let x = [u64::MAX, u64::MAX, u64::MAX];
    bits(
        ShiftRight::DEF,
        &[&x, &[1, 64, u64::MAX]],
        &[u64::MAX >> 1, 0, 0],
    );
    bits(ShiftLeft::DEF, &[&x, &[63, 64, u64::MAX]], &[1 << 63, 0, 0]);
}
